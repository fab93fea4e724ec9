#include <immintrin.h>

#include "cpu/kernels/avx2/entries.h"

namespace teapot::cpu::avx2 {
namespace {

__m256 absolute(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }

float largest_of(__m256 x) {
  const __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 pair = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
}

// The quotient leaves the range where the scale is subnormal.
__m256i rounded(__m256 quotient, __m256i valid) {
  const __m256i bounded = _mm256_max_epi32(_mm256_min_epi32(_mm256_cvtps_epi32(quotient), _mm256_set1_epi32(127)), _mm256_set1_epi32(-127));
  return _mm256_and_si256(bounded, valid);
}

// 16 integers stored as bytes; returns their sum.
int32_t store_bytes(__m256i low, __m256i high, int8_t* q) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  const __m256i sum = _mm256_add_epi32(low, high);
  const __m128i quarter = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  const __m128i pair = _mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(pair, _mm_shuffle_epi32(pair, 0xb1)));
}

}  // namespace

void quantize(const float* x, size_t cols, int8_t* q, float* scales, int32_t* sums) {
  static_assert(kQuantBlock == 32);
  const __m256 infinity = _mm256_set1_ps(__builtin_inff());
  for (size_t i = 0; i < cols; i += kQuantBlock) {
    const __m256 values[4] = {_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i + 8), _mm256_loadu_ps(x + i + 16), _mm256_loadu_ps(x + i + 24)};
    __m256 largest = _mm256_setzero_ps(), finite = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (const __m256 value : values) {
      largest = _mm256_max_ps(largest, absolute(value));
      finite = _mm256_and_ps(finite, _mm256_cmp_ps(absolute(value), infinity, _CMP_LT_OQ));
    }
    const float scale = _mm256_movemask_ps(finite) == 0xff ? largest_of(largest) / 127.0f : __builtin_nanf("");
    const __m256i valid = _mm256_set1_epi32(scale > 0 ? -1 : 0);
    const __m256 divisor = _mm256_set1_ps(scale);
    scales[i / kQuantBlock] = scale;
    for (size_t half = 0; half < 2; ++half) {
      const __m256i low = rounded(_mm256_div_ps(values[2 * half], divisor), valid);
      const __m256i high = rounded(_mm256_div_ps(values[2 * half + 1], divisor), valid);
      sums[i / 16 + half] = store_bytes(low, high, q + i + 16 * half);
    }
  }
}

}  // namespace teapot::cpu::avx2
