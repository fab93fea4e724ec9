// The block formats of weights as facts (spec 5.5): what the kernels of every instruction set are instantiated for.
#pragma once

#include <stddef.h>

namespace teapot::cpu {

// A block holds kElements weights in kBytes bytes. weight = scale * q - min, q = level - kOffset, where the level fits an unsigned byte;
// scale and min belong to a group of kGroup weights.
struct F32 {
  static constexpr size_t kElements = 1, kBytes = 4;
};
struct F16 {
  static constexpr size_t kElements = 1, kBytes = 2;
};
struct BF16 {
  static constexpr size_t kElements = 1, kBytes = 2;
};
struct Q8_0 {
  static constexpr size_t kElements = 32, kBytes = 34, kGroup = 32;
  static constexpr int kOffset = 128;
  static constexpr bool kHasMin = false;
};
struct Q4_0 {
  static constexpr size_t kElements = 32, kBytes = 18, kGroup = 32;
  static constexpr int kOffset = 8;
  static constexpr bool kHasMin = false;
};
struct Q4_1 {
  static constexpr size_t kElements = 32, kBytes = 20, kGroup = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMin = true;
};
struct Q5_0 {
  static constexpr size_t kElements = 32, kBytes = 22, kGroup = 32;
  static constexpr int kOffset = 16;
  static constexpr bool kHasMin = false;
};
struct Q5_1 {
  static constexpr size_t kElements = 32, kBytes = 24, kGroup = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMin = true;
};
struct Q2_K {
  static constexpr size_t kElements = 256, kBytes = 84, kGroup = 16;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMin = true;
};
struct Q3_K {
  static constexpr size_t kElements = 256, kBytes = 110, kGroup = 16;
  static constexpr int kOffset = 4;
  static constexpr bool kHasMin = false;
};
struct Q4_K {
  static constexpr size_t kElements = 256, kBytes = 144, kGroup = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMin = true;
};
struct Q5_K {
  static constexpr size_t kElements = 256, kBytes = 176, kGroup = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMin = true;
};
struct Q6_K {
  static constexpr size_t kElements = 256, kBytes = 210, kGroup = 16;
  static constexpr int kOffset = 32;
  static constexpr bool kHasMin = false;
};
struct IQ4_NL {
  static constexpr size_t kElements = 32, kBytes = 18, kGroup = 32;
  static constexpr int kOffset = 128;
  static constexpr bool kHasMin = false;
};
struct IQ4_XS {
  static constexpr size_t kElements = 256, kBytes = 136, kGroup = 32;
  static constexpr int kOffset = 128;
  static constexpr bool kHasMin = false;
};

}  // namespace teapot::cpu
