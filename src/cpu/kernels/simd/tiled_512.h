// Sixteen rows in a register: what simd/tiled_*.h are instantiated with where there is AVX-512, with its dot of bytes given from outside.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

template <class Dot>
struct Tiled512 : Dot {
  using Bytes = __m512i;
  using Floats = __m512;
  static constexpr size_t kLanes = 16;
  static constexpr int kFloatTokens = 8;  // whose sums stay in registers

  static Bytes load(const unsigned char* p) { return _mm512_loadu_si512(p); }
  static Bytes low_nibbles(Bytes x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
  static Bytes high_nibbles(Bytes x) { return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15)); }
  static Bytes flip_signs(Bytes x) { return _mm512_xor_si512(x, _mm512_set1_epi8(static_cast<char>(0x80))); }
  // level | (bits << shift & mask), bytewise: a mask that no bit of a neighbour reaches.
  template <int mask>
  [[gnu::always_inline]] static Bytes add_bits(Bytes level, Bytes bits, int shift) {
    const Bytes moved =
        shift >= 0 ? _mm512_slli_epi16(bits, static_cast<unsigned>(shift)) : _mm512_srli_epi16(bits, static_cast<unsigned>(-shift));
    constexpr int kOrAnd = 0xf8;  // a | (b & c)
    return _mm512_ternarylogic_epi32(level, moved, _mm512_set1_epi8(mask), kOrAnd);
  }
  static Bytes iq4(Bytes index) {
    return _mm512_shuffle_epi8(
        _mm512_broadcast_i32x4(_mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)), index);
  }

  static Floats set(float x) { return _mm512_set1_ps(x); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats fnma(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
  static Floats floats(Bytes ints) { return _mm512_cvtepi32_ps(ints); }
  static Floats load_floats(const unsigned char* p) { return _mm512_loadu_ps(p); }
  static Floats halves(const unsigned char* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static Floats low_bf16(Bytes x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }
  static Floats high_bf16(Bytes x) { return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000)))); }
  static Floats unsigned_bytes(const unsigned char* p) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load16(p))); }
  static Floats signed_bytes(const unsigned char* p) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load16(p))); }
  // Byte k of each dword, less the offset.
  template <int offset, bool is_signed>
  static Floats level_floats(Bytes levels, int k) {
    if (is_signed) return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_sll_epi32(levels, _mm_cvtsi32_si128(24 - 8 * k)), 24));
    const Bytes byte = _mm512_and_si512(_mm512_srl_epi32(levels, _mm_cvtsi32_si128(8 * k)), _mm512_set1_epi32(255));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(byte, _mm512_set1_epi32(offset)));
  }

  // Rows [from, to) of the tile, the first at out.
  static void store_rows(float* out, Floats sums, size_t, size_t from, size_t to) {
    if (to - from == 16) {
      _mm512_storeu_ps(out, sums);
      return;
    }
    const auto rows = static_cast<__mmask16>((1u << to) - (1u << from));
    _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1u << (to - from)) - 1), _mm512_maskz_compress_ps(rows, sums));
  }

 private:
  static __m128i load16(const unsigned char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
};

}  // namespace
}  // namespace teapot::cpu
