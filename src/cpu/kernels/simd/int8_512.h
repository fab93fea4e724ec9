// 64 bytes in a register: what simd/matmul_int8.h is instantiated with where there is AVX-512, with its dot of bytes given from outside.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

template <class Dot>
struct Int8x512 : Dot {
  using Bytes = __m512i;
  using Floats = __m512;
  using Spread = __m512;  // the scales of 256 columns: 8 in the lower half, or 16
  static constexpr size_t kPieces = 4;
  static constexpr size_t kChains = 2;

  static Bytes join(const __m256i* two) { return _mm512_inserti64x4(_mm512_castsi256_si512(two[0]), two[1], 1); }
  static void split_nibbles(const unsigned char* p, Bytes* piece) {
    const __m512i twice = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    const __m512i shift = _mm512_setr_epi64(0, 0, 0, 0, 4, 4, 4, 4);
    *piece = _mm512_and_si512(_mm512_srlv_epi64(twice, shift), _mm512_set1_epi8(15));
  }
  static void mask_nibbles(const unsigned char* p, Bytes* pieces) {
    const __m512i mask = _mm512_inserti64x4(_mm512_set1_epi8(0x0f), _mm256_set1_epi8(static_cast<char>(0xf0)), 1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * i));
      pieces[i] = _mm512_and_si512(_mm512_broadcast_i64x4(both), mask);
    }
  }
  template <int value>
  static void add_bits(const unsigned char* p, Bytes* pieces) {
    const __m512i twice = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i even = _mm256_set1_epi8(static_cast<char>(1 << 2 * i)), odd = _mm256_set1_epi8(static_cast<char>(2 << 2 * i));
      const __m512i bit = _mm512_inserti64x4(_mm512_castsi256_si512(even), odd, 1);
      pieces[i] = _mm512_mask_add_epi8(pieces[i], _mm512_test_epi8_mask(twice, bit), pieces[i], _mm512_set1_epi8(value));
    }
  }
  static Bytes load(const int8_t* p) { return _mm512_loadu_si512(p); }
  static Floats widen(__m256 x) { return _mm512_zextps256_ps512(x); }
  static Floats floats(__m512i x) { return _mm512_cvtepi32_ps(x); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

  // Lane l of piece i is columns 64 i + 4 l ...
  template <size_t kGroup>
  static Spread spread(const __m256* scales) {
    if constexpr (kGroup == 32) return _mm512_castps256_ps512(scales[0]);
    if constexpr (kGroup == 16) return _mm512_insertf32x8(_mm512_castps256_ps512(scales[0]), scales[1], 1);
  }
  template <size_t kGroup>
  static Floats scale_of(Spread scales, size_t piece) {
    const auto at = static_cast<int>(piece * 64 / kGroup);
    const __m512i lanes = kGroup == 32 ? _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
                                       : _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(at)), scales);
  }

  static float sum(Floats x) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }
};

}  // namespace
}  // namespace teapot::cpu
