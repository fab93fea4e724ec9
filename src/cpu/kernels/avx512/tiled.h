// The dot of bytes without VNNI: pairs in 16 bits, as many of them added there as cannot overflow.
#pragma once

#include "cpu/kernels/simd/tiled_512.h"
#include "cpu/kernels/tiles.h"

namespace teapot::cpu {
namespace {

struct TiledDot16 {
  static constexpr bool kSigned = true;
  static constexpr int kTokens = 8;  // whose sums stay in registers beside a panel

  template <int kLargestLevel, size_t kDwords>
  [[gnu::always_inline]] static __m512i dot(const __m512i* levels, const int8_t* x, int32_t correction) {
    constexpr size_t kTogether = kPairsTogether<kLargestLevel>;
    __m512i sum = _mm512_set1_epi32(correction);
    __m512i pairs = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (size_t j = 0; j < kDwords; ++j) {
      int32_t four;
      __builtin_memcpy(&four, x + 4 * j, 4);
      const __m512i products = multiply < kLargestLevel == 255 > (levels[j], _mm512_set1_epi32(four));
      pairs = j % kTogether == 0 ? products : _mm512_add_epi16(pairs, products);
      if (j % kTogether == kTogether - 1 || j == kDwords - 1) {
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
      }
    }
    return sum;
  }

 private:
  // Signed levels: |level| times the activation with the level's sign; at most 2 * 128 * 127.
  template <bool is_signed>
  [[gnu::always_inline]] static __m512i multiply(__m512i levels, __m512i x) {
    if (!is_signed) return _mm512_maddubs_epi16(levels, x);
    return _mm512_maddubs_epi16(_mm512_abs_epi8(levels), _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(levels), _mm512_setzero_si512(), x));
  }
};

using TiledLanes = Tiled512<TiledDot16>;

}  // namespace
}  // namespace teapot::cpu
