// What recording steps costs them: traced and untraced steps of one process in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/decode_loop.h"
#include "workbench/pairs/paired_figures.h"

namespace teapot::workbench {

struct TraceCostOptions {
  DecodeLoad load;
  uint32_t pairs = 200;  // of a traced and an untraced step, one right after the other; which is first is drawn
  uint64_t seed = 1;     // of the drawing
};

struct TraceCost {
  TraceCostOptions options;
  std::vector<double> plain_us, traced_us;  // [pairs]: from the end of the step before to its own end
  PairedFigures figures;                    // of ln(traced / plain)
};

// As measure_profile.
Result<TraceCost> measure_trace_cost(const model::Model& model, plan::Backend& backend, const TraceCostOptions& options);

std::string to_text(const TraceCost& cost);

}  // namespace teapot::workbench
