// Sums over the counted steps, as reports show them.
#pragma once

#include <algorithm>

#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

inline double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

inline double per_step(const Analysis& analysis, double sum) { return sum / static_cast<double>(std::max<uint64_t>(analysis.counted, 1)); }

// Percent of the counted steps' time.
inline double share(const Analysis& analysis, int64_t ns) {
  const int64_t wall = analysis.counted_wall_ns();
  return wall == 0 ? 0 : 100 * static_cast<double>(ns) / static_cast<double>(wall);
}

}  // namespace teapot::workbench::trace
