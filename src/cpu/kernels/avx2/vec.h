// Eight f32 in a register: what the shared kernels in simd/ are instantiated with here.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {
namespace {

struct Vec {
  using Type = __m256;
  static constexpr size_t kLanes = 8;
  static constexpr int kTileRows = 1;  // rows of a float tile of 4 tokens: two sums each are half of 16 registers

  static __m256i first(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  static Type zero() { return _mm256_setzero_ps(); }
  static Type set(float x) { return _mm256_set1_ps(x); }
  static Type load(const float* p) { return _mm256_loadu_ps(p); }
  static Type load_first(const float* p, size_t n) { return _mm256_maskload_ps(p, first(n)); }  // the other lanes are 0
  static void store(float* p, Type x) { _mm256_storeu_ps(p, x); }
  static void store_first(float* p, size_t n, Type x) { _mm256_maskstore_ps(p, first(n), x); }
  static Type keep_first(Type x, size_t n) { return _mm256_and_ps(x, _mm256_castsi256_ps(first(n))); }

  static Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
  static Type sub(Type a, Type b) { return _mm256_sub_ps(a, b); }
  static Type mul(Type a, Type b) { return _mm256_mul_ps(a, b); }
  static Type div(Type a, Type b) { return _mm256_div_ps(a, b); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }    // a * b + c
  static Type fnma(Type a, Type b, Type c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a * b
  static Type min(Type a, Type b) { return _mm256_min_ps(a, b); }                 // b if any is NaN
  static Type max(Type a, Type b) { return _mm256_max_ps(a, b); }                 // b if any is NaN
  static Type abs(Type x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
  static Type round(Type x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  // x * 2^n, n integral: in two factors, since 2^n itself may lie beyond the normal numbers where the product does not.
  static Type times_power(Type x, Type n) {
    const __m256i power = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(power, 1);
    return mul(mul(x, power_of_two(half)), power_of_two(_mm256_sub_epi32(power, half)));
  }

  // One bit a lane.
  static uint32_t equal(Type a, Type b) { return bits(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
  static uint32_t greater(Type a, Type b) { return bits(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); }
  static uint32_t nan(Type a) { return bits(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }

  // Halves onto halves, down to one lane.
  static float sum(Type x) {
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }
  // Lane i of the result is the sum of v[i]; one order for all.
  static Type sums(const Type (&v)[kLanes]) {
    Type pairs[4], fours[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) pairs[i] = add(_mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]), _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]));
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m256d a = _mm256_castps_pd(pairs[2 * i]), b = _mm256_castps_pd(pairs[2 * i + 1]);
      fours[i] = add(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
    }
    return add(_mm256_permute2f128_ps(fours[0], fours[1], 0x20), _mm256_permute2f128_ps(fours[0], fours[1], 0x31));
  }
  static float largest(Type x) {
    const __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 pair = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
  }

  static Type load_f16(const uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static Type load_f16_first(const uint16_t* p, size_t n) { return _mm256_cvtph_ps(load16_first(p, n)); }
  static Type load_bf16(const uint16_t* p) { return from_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static Type load_bf16_first(const uint16_t* p, size_t n) { return from_bf16(load16_first(p, n)); }

  static void store_f16_first(uint16_t* p, size_t n, Type x) {
    store16_first(p, n, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  // To nearest even on the bits; NaN keeps its upper bits and becomes quiet.
  static void store_bf16_first(uint16_t* p, size_t n, Type x) {
    const __m256i source = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(source, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(source, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(source, _mm256_set1_epi32(0x400000));
    const __m256i either = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
    const __m256i upper = _mm256_srli_epi32(either, 16);
    store16_first(p, n, _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
  }

 private:
  static uint32_t bits(Type mask) { return static_cast<uint32_t>(_mm256_movemask_ps(mask)); }
  static Type power_of_two(__m256i n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)); }
  static Type from_bf16(__m128i x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)); }
  static __m128i load16_first(const uint16_t* p, size_t n) {
    uint16_t buffer[kLanes] = {};
    __builtin_memcpy(buffer, p, n * sizeof(uint16_t));
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(buffer));
  }
  static void store16_first(uint16_t* p, size_t n, __m128i x) {
    if (n == kLanes) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
      return;
    }
    uint16_t buffer[kLanes];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(buffer), x);
    __builtin_memcpy(p, buffer, n * sizeof(uint16_t));
  }
};

}  // namespace
}  // namespace teapot::cpu
