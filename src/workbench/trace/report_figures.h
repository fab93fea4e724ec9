// Sums over the counted steps, as reports show them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

inline double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

inline double per_step(const Analysis& analysis, double sum) { return sum / static_cast<double>(std::max<uint64_t>(analysis.counted, 1)); }

// Percent of the counted steps' time.
inline double share(const Analysis& analysis, int64_t ns) {
  const int64_t wall = analysis.counted_wall_ns();
  return wall == 0 ? 0 : 100 * static_cast<double>(ns) / static_cast<double>(wall);
}

// Steps of one kind: a mean over decode steps and prefill is nobody's.
struct KindTimes {
  std::string kind;
  uint64_t steps = 0;
  int64_t wall_ns = 0;
  ClassTimes ns{};
};

// Of the counted steps; empty where all are of one kind.
std::vector<KindTimes> kinds_of(const Analysis& analysis);

// What our own trace tells beside its slices, a sentence each.
std::vector<std::string> own_facts(const Analysis& analysis);

}  // namespace teapot::workbench::trace
