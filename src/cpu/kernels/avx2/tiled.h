// Eight rows in a register: what simd/tiled_*.h are instantiated with where there is AVX2.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

struct TiledLanes {
  using Bytes = __m256i;
  using Floats = __m256;
  static constexpr size_t kLanes = 8;
  static constexpr int kTokens = 8;       // of int8 a call
  static constexpr int kFloatTokens = 4;  // whose sums stay in registers
  static constexpr bool kSigned = true;

  static Bytes load(const unsigned char* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Bytes low_nibbles(Bytes x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
  static Bytes high_nibbles(Bytes x) { return _mm256_and_si256(_mm256_srli_epi16(x, 4), _mm256_set1_epi8(15)); }
  static Bytes flip_signs(Bytes x) { return _mm256_xor_si256(x, _mm256_set1_epi8(static_cast<char>(0x80))); }
  template <int mask>
  [[gnu::always_inline]] static Bytes add_bits(Bytes level, Bytes bits, int shift) {
    const Bytes moved = shift >= 0 ? _mm256_slli_epi16(bits, shift) : _mm256_srli_epi16(bits, -shift);
    return _mm256_or_si256(level, _mm256_and_si256(moved, _mm256_set1_epi8(mask)));
  }
  static Bytes iq4(Bytes index) {
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)), index);
  }

  static Floats set(float x) { return _mm256_set1_ps(x); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats fnma(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
  static Floats floats(Bytes ints) { return _mm256_cvtepi32_ps(ints); }
  static Floats load_floats(const unsigned char* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
  static Floats halves(const unsigned char* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static Floats low_bf16(Bytes x) { return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)); }
  static Floats high_bf16(Bytes x) { return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(static_cast<int>(0xffff0000)))); }
  static Floats unsigned_bytes(const unsigned char* p) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load8(p))); }
  static Floats signed_bytes(const unsigned char* p) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load8(p))); }
  template <int offset, bool is_signed>
  static Floats level_floats(Bytes levels, int k) {
    if (is_signed) return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_sll_epi32(levels, _mm_cvtsi32_si128(24 - 8 * k)), 24));
    const Bytes byte = _mm256_and_si256(_mm256_srl_epi32(levels, _mm_cvtsi32_si128(8 * k)), _mm256_set1_epi32(255));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(byte, _mm256_set1_epi32(offset)));
  }

  // Products of levels and activations, added in pairs to 16 bits (kPairsTogether).
  // Signed levels: |level| times the activation with the level's sign; at most 2 * 128 * 127.
  template <bool is_signed>
  [[gnu::always_inline]] static Bytes products(Bytes levels, Bytes x) {
    if (!is_signed) return _mm256_maddubs_epi16(levels, x);
    return _mm256_maddubs_epi16(_mm256_abs_epi8(levels), _mm256_sign_epi8(x, levels));
  }
  static Bytes add_pairs(Bytes a, Bytes b) { return now(_mm256_add_epi16(a, b)); }
  static Bytes add_dwords(Bytes a, Bytes b) { return now(_mm256_add_epi32(a, b)); }
  static Bytes join_pairs(Bytes pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
  static Bytes set_dwords(int32_t x) { return _mm256_set1_epi32(x); }
  static Bytes four_of_all(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, 4);
    return _mm256_set1_epi32(four);
  }

  // Rows [from, to) of the tile, the first at out; the register has those from v * kLanes on.
  static void store_rows(float* out, Floats sums, size_t v, size_t from, size_t to) {
    if (to - from == 2 * kLanes) {
      _mm256_storeu_ps(out + kLanes * v, sums);
      return;
    }
    float rows[kLanes];
    _mm256_storeu_ps(rows, sums);
    for (size_t l = 0; l < kLanes; ++l) {
      const size_t row = kLanes * v + l;
      if (row >= from && row < to) out[row - from] = rows[l];
    }
  }

 private:
  // GCC would put a sum off, and with it all that is to be added, which no register holds.
  [[gnu::always_inline]] static Bytes now(Bytes sum) {
    asm("" : "+x"(sum));
    return sum;
  }
  static __m128i load8(const unsigned char* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)); }
};

}  // namespace
}  // namespace teapot::cpu
