// The dot of bytes with VNNI: unsigned levels x signed activations, straight into 32 bits.
#pragma once

#include "cpu/kernels/simd/tiled_512.h"

namespace teapot::cpu {
namespace {

struct [[gnu::packed, gnu::may_alias]] Dword {
  int8_t bytes[4];
};

struct TiledDotVnni {
  static constexpr int kTokens = 16;  // whose sums stay in registers beside a panel
  static constexpr bool kSigned = false;

  // correction + the dots of `dwords` dwords of levels with 4 * dwords bytes.
  template <int kLargestLevel, size_t kDwords>
  [[gnu::always_inline]] static __m512i dot(const __m512i* levels, const int8_t* x, int32_t correction) {
    __m512i sum = _mm512_set1_epi32(correction);
#pragma GCC unroll 8
    for (size_t j = 0; j < kDwords; ++j) {
      // GCC would load and spread the four bytes in an instruction of its own.
      asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(levels[j]), "m"(*reinterpret_cast<const Dword*>(x + 4 * j)));
    }
    return sum;
  }
};

using TiledLanes = Tiled512<TiledDotVnni>;

}  // namespace
}  // namespace teapot::cpu
