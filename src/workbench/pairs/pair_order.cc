#include "workbench/pairs/pair_order.h"

#include <array>
#include <cstddef>

#include "engine/philox.h"

namespace teapot::workbench {

bool b_goes_first(uint64_t seed, uint32_t pair) {
  // All ways to let B begin in two pairs of four; bit i is pair i of the block.
  constexpr std::array<uint32_t, 6> kBlocks = {0b0011, 0b0101, 0b0110, 0b1001, 0b1010, 0b1100};
  const auto drawn = static_cast<size_t>(engine::uniform(seed, pair / kOrderBlock) * kBlocks.size());
  return (kBlocks[drawn] >> (pair % kOrderBlock) & 1) != 0;
}

}  // namespace teapot::workbench
