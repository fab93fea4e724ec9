// The dot of bytes with VNNI: unsigned x signed, straight into 32 bits.
#pragma once

#include "cpu/kernels/simd/int8_512.h"

namespace teapot::cpu {
namespace {

struct DotVnni {
  static constexpr bool kDotTakesAnyByte = true;

  // What is to be added to the dot of levels to get that of level - offset.
  template <int kOffset>
  static __m512i correction(__m512i x) {
    if constexpr (kOffset == 0) return _mm512_setzero_si512();
    const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(static_cast<char>(kOffset)), x);
    return _mm512_sub_epi32(_mm512_setzero_si512(), sums);
  }

  template <int kOffset>
  static __m512i dot(__m512i levels, __m512i x, __m512i correction) {
    return _mm512_dpbusd_epi32(correction, levels, x);
  }
};

using Int8 = Int8x512<DotVnni>;

}  // namespace
}  // namespace teapot::cpu
