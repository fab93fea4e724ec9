// The dot of bytes with VNNI: unsigned levels x signed activations, straight into 32 bits.
#pragma once

#include "cpu/kernels/simd/tiled_512.h"

namespace teapot::cpu {
namespace {

struct TiledDotVnni {
  static constexpr bool kSigned = false;

  // correction + the dots of `dwords` dwords of levels with 4 * dwords bytes.
  template <int kLargestLevel, size_t kDwords>
  [[gnu::always_inline]] static __m512i dot(const __m512i* levels, const int8_t* x, int32_t correction) {
    __m512i sum = correction == 0 ? _mm512_setzero_si512() : _mm512_set1_epi32(correction);
#pragma GCC unroll 8
    for (size_t j = 0; j < kDwords; ++j) {
      int32_t four;
      __builtin_memcpy(&four, x + 4 * j, 4);
      sum = _mm512_dpbusd_epi32(sum, levels[j], _mm512_set1_epi32(four));
    }
    return sum;
  }
};

using TiledLanes = Tiled512<TiledDotVnni>;

}  // namespace
}  // namespace teapot::cpu
