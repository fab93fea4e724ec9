// Prompts for measurements of speed.
#pragma once

#include <cstdint>

namespace teapot::workbench {

// Token `position` of sequence `sequence`: any ids will do, as long as the sequences differ (splitmix64).
inline int32_t prompt_token(uint32_t sequence, uint32_t position, uint32_t vocab) {
  uint64_t x = (uint64_t{sequence} << 32 | position) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<int32_t>((x ^ (x >> 31)) % vocab);
}

}  // namespace teapot::workbench
