// The dot of bytes without VNNI: pairs in 16 bits, then in 32.
#pragma once

#include "cpu/kernels/simd/int8_512.h"

namespace teapot::cpu {
namespace {

struct DotMaddubs {
  static constexpr bool kDotTakesAnyByte = false;

  // What is to be added to the dot of levels to get that of level - offset.
  template <int kOffset>
  static __m512i correction(__m512i x) {
    if constexpr (kOffset == 0 || kOffset == 128) return _mm512_setzero_si512();
    const __m512i sums = _mm512_maddubs_epi16(_mm512_set1_epi8(static_cast<char>(kOffset)), x);
    return _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_madd_epi16(sums, _mm512_set1_epi16(1)));
  }

  // Levels up to 127 fit: 2 * 127 * 127 < 2^15. Those with offset 128 are bytes with a sign, which moves over to the activation.
  template <int kOffset>
  static __m512i dot(__m512i levels, __m512i x, __m512i correction) {
    const __m512i ones = _mm512_set1_epi16(1);
    if constexpr (kOffset == 128) {
      const __m512i q = _mm512_xor_si512(levels, _mm512_set1_epi8(static_cast<char>(0x80)));
      const __m512i signed_x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(q), _mm512_setzero_si512(), x);
      return _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_abs_epi8(q), signed_x), ones);
    } else {
      return _mm512_add_epi32(_mm512_madd_epi16(_mm512_maddubs_epi16(levels, x), ones), correction);
    }
  }
};

using Int8 = Int8x512<DotMaddubs>;

}  // namespace
}  // namespace teapot::cpu
