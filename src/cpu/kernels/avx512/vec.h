// Sixteen f32 in a register: what the shared kernels in simd/ are instantiated with here.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

struct Vec {
  using Type = __m512;
  static constexpr size_t kLanes = 16;
  static constexpr int kTileRows = 2;  // rows of a float tile of 4 tokens: two sums each are half of 32 registers

  static __mmask16 first(size_t n) { return static_cast<__mmask16>((1u << n) - 1); }

  static Type zero() { return _mm512_setzero_ps(); }
  static Type set(float x) { return _mm512_set1_ps(x); }
  static Type load(const float* p) { return _mm512_loadu_ps(p); }
  static Type load_first(const float* p, size_t n) { return _mm512_maskz_loadu_ps(first(n), p); }  // the other lanes are 0
  static void store(float* p, Type x) { _mm512_storeu_ps(p, x); }
  static void store_first(float* p, size_t n, Type x) { _mm512_mask_storeu_ps(p, first(n), x); }
  static Type keep_first(Type x, size_t n) { return _mm512_maskz_mov_ps(first(n), x); }

  static Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
  static Type sub(Type a, Type b) { return _mm512_sub_ps(a, b); }
  static Type mul(Type a, Type b) { return _mm512_mul_ps(a, b); }
  static Type div(Type a, Type b) { return _mm512_div_ps(a, b); }
  static Type fma(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }    // a * b + c
  static Type fnma(Type a, Type b, Type c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a * b
  static Type min(Type a, Type b) { return _mm512_min_ps(a, b); }                 // b if any is NaN
  static Type max(Type a, Type b) { return _mm512_max_ps(a, b); }                 // b if any is NaN
  static Type abs(Type x) { return _mm512_abs_ps(x); }
  static Type round(Type x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Type times_power(Type x, Type n) { return _mm512_scalef_ps(x, n); }  // x * 2^n, n integral

  // One bit a lane.
  static uint32_t equal(Type a, Type b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static uint32_t greater(Type a, Type b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static uint32_t nan(Type a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }

  // Halves onto halves, down to one lane.
  static float sum(Type x) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }
  // Lane i of the result is the sum of v[i]; one order for all.
  static Type sums(const Type (&v)[kLanes]) {
    Type pairs[8], fours[4];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) pairs[i] = add(_mm512_unpacklo_ps(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_ps(v[2 * i], v[2 * i + 1]));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512d a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
      fours[i] = add(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
    }
    const Type low = halves_added(fours[0], fours[1]), high = halves_added(fours[2], fours[3]);
    return halves_added(low, high);
  }
  static float largest(Type x) {
    const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    const __m128 pair = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
  }

  static Type load_f16(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static Type load_f16_first(const uint16_t* p, size_t n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n), p)); }
  static Type load_bf16(const uint16_t* p) { return from_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static Type load_bf16_first(const uint16_t* p, size_t n) { return from_bf16(_mm256_maskz_loadu_epi16(first(n), p)); }

  static void store_f16_first(uint16_t* p, size_t n, Type x) {
    _mm256_mask_storeu_epi16(p, first(n), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  // To nearest even on the bits; NaN keeps its upper bits and becomes quiet.
  static void store_bf16_first(uint16_t* p, size_t n, Type x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    const __m512i either = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), quiet);
    _mm256_mask_storeu_epi16(p, first(n), _mm512_cvtepi32_epi16(_mm512_srli_epi32(either, 16)));
  }

 private:
  // Quarters 0 and 1, 2 and 3 of each.
  static Type halves_added(Type a, Type b) { return add(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd)); }
  static Type from_bf16(__m256i bits) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)); }
};

}  // namespace
}  // namespace teapot::cpu
