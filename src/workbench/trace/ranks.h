// Ranks side by side. A collective ends for all of them at once, so what one rank spends in it beyond the rank that came last is waiting
// for that one.
#pragma once

#include <vector>

#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

struct RankTimes {
  int64_t rank = 0;
  double wall_us = 0;     // of a step, on average
  double waiting_us = 0;  // of that, within collectives, for another rank
  double own_us() const { return wall_us - waiting_us; }
};

// Slowest first: the one that others wait for. Calls are paired by step id, name and turn, so that the ranks' clocks need not agree; calls
// that not all ranks have count as no waiting.
std::vector<RankTimes> compare_ranks(const std::vector<Analysis>& ranks);

}  // namespace teapot::workbench::trace
