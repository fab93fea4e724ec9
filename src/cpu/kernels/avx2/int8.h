// 32 bytes in a register: what simd/matmul_int8.h is instantiated with here.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/simd/unpack.h"

namespace teapot::cpu {
namespace {

struct Int8 : Pieces256 {
  using Floats = __m256;
  struct Spread {
    __m256 scales[2];
  };
  static constexpr size_t kChains = 2;

  static Bytes load(const int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Floats widen(__m256 x) { return x; }
  static Floats floats(__m256i x) { return _mm256_cvtepi32_ps(x); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

  // What is to be added to the dot of levels to get that of level - offset.
  template <int kOffset>
  static __m256i correction(__m256i x) {
    if constexpr (kOffset == 0 || kOffset == 128) return _mm256_setzero_si256();
    const __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(static_cast<char>(kOffset)), x);
    return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_madd_epi16(sums, _mm256_set1_epi16(1)));
  }

  // Levels up to 127 fit: 2 * 127 * 127 < 2^15. Those with offset 128 are bytes with a sign, which moves over to the activation.
  template <int kOffset>
  static __m256i dot(__m256i levels, __m256i x, __m256i correction) {
    const __m256i ones = _mm256_set1_epi16(1);
    if constexpr (kOffset == 128) {
      const __m256i q = _mm256_xor_si256(levels, _mm256_set1_epi8(static_cast<char>(0x80)));
      return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(x, q)), ones);
    } else {
      return _mm256_add_epi32(_mm256_madd_epi16(_mm256_maddubs_epi16(levels, x), ones), correction);
    }
  }

  // Lane l of piece i is columns 32 i + 4 l ...
  template <size_t kGroup>
  static Spread spread(const __m256* scales) {
    return {{scales[0], scales[kGroup == 16]}};
  }
  template <size_t kGroup>
  static Floats scale_of(const Spread& spread, size_t piece) {
    if constexpr (kGroup == 32) return _mm256_permutevar8x32_ps(spread.scales[0], _mm256_set1_epi32(static_cast<int>(piece)));
    const auto at = static_cast<int>(piece % 4 * 2);
    const __m256i lanes = _mm256_setr_epi32(at, at, at, at, at + 1, at + 1, at + 1, at + 1);
    return _mm256_permutevar8x32_ps(spread.scales[piece / 4], lanes);
  }

  static float sum(Floats x) {
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }
};

}  // namespace
}  // namespace teapot::cpu
