// The matrix registers, by compile-time number. GCC 12's own intrinsics spell the number's tokens into the assembly and take no constants.
#pragma once

#include <stddef.h>

namespace teapot::cpu {
namespace {

// Shapes of all registers; config: 64 bytes.
[[gnu::always_inline]] inline void tile_configure(const void* config) { asm volatile("ldtilecfg (%0)" ::"r"(config) : "memory"); }
[[gnu::always_inline]] inline void tile_release() { asm volatile("tilerelease" ::: "memory"); }

template <int kRegister>
[[gnu::always_inline]] inline void tile_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kRegister));
}

// Rows at `stride` bytes from each other.
template <int kRegister>
[[gnu::always_inline]] inline void tile_load(const void* rows, size_t stride) {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(kRegister), "r"(rows), "r"(stride) : "memory");
}

template <int kRegister>
[[gnu::always_inline]] inline void tile_store(void* rows, size_t stride) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kRegister), "r"(rows), "r"(stride) : "memory");
}

// dots += signed bytes [tokens, 4 * dwords] x unsigned ones [dwords, columns of 4].
template <int kDots, int kSigned, int kUnsigned>
[[gnu::always_inline]] inline void tile_multiply() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kDots), "i"(kSigned), "i"(kUnsigned));
}

}  // namespace
}  // namespace teapot::cpu
