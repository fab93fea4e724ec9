#include <immintrin.h>

#include "cpu/kernels/avx512/entries.h"

namespace teapot::cpu::avx512 {
namespace {

// 16 quotients rounded and stored; returns their sum. The quotient leaves the range where the scale is subnormal.
int32_t store_rounded(__m512 quotient, __mmask16 valid, int8_t* q) {
  const __m512i rounded = _mm512_maskz_cvtps_epi32(valid, quotient);
  const __m512i bounded = _mm512_max_epi32(_mm512_min_epi32(rounded, _mm512_set1_epi32(127)), _mm512_set1_epi32(-127));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm512_cvtepi32_epi8(bounded));
  return _mm512_reduce_add_epi32(bounded);
}

}  // namespace

void quantize(const float* x, size_t cols, int8_t* q, float* scales, int32_t* sums) {
  static_assert(kQuantBlock == 32);
  const __m512 infinity = _mm512_set1_ps(__builtin_inff());
  for (size_t i = 0; i < cols; i += kQuantBlock) {
    const __m512 low = _mm512_loadu_ps(x + i), high = _mm512_loadu_ps(x + i + 16);
    const __m512 low_size = _mm512_abs_ps(low), high_size = _mm512_abs_ps(high);
    const unsigned finite = _mm512_cmp_ps_mask(low_size, infinity, _CMP_LT_OQ) & _mm512_cmp_ps_mask(high_size, infinity, _CMP_LT_OQ);
    const float largest = _mm512_reduce_max_ps(_mm512_max_ps(low_size, high_size));
    const float scale = finite == 0xffff ? largest / 127.0f : __builtin_nanf("");
    const auto valid = static_cast<__mmask16>(scale > 0 ? 0xffff : 0);
    const __m512 divisor = _mm512_set1_ps(scale);
    scales[i / kQuantBlock] = scale;
    sums[i / 16] = store_rounded(_mm512_div_ps(low, divisor), valid, q + i);
    sums[i / 16 + 1] = store_rounded(_mm512_div_ps(high, divisor), valid, q + i + 16);
  }
}

}  // namespace teapot::cpu::avx512
