// Who goes first in each pair: drawn, and balanced in blocks of four pairs (two of each order, permuted). A drift then leaves no bias, and
// nothing with a period of its own can fall in step with the order, as it does with ABAB or ABBA.
#pragma once

#include <cstdint>

namespace teapot::workbench {

constexpr uint32_t kOrderBlock = 4;  // pairs

// Whether B goes first in this pair. A function of its arguments alone: a run that is resumed goes on in the same order.
bool b_goes_first(uint64_t seed, uint32_t pair);

}  // namespace teapot::workbench
