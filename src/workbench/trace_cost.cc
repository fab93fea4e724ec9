#include "workbench/trace_cost.h"

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "workbench/pairs/pair_order.h"

namespace teapot::workbench {
namespace {

constexpr double kAlpha = 0.05;
constexpr uint32_t kRoom = 16;  // steps of a recording; it is made anew between two pairs

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

Result<TraceCost> measure_trace_cost(const model::Model& model, plan::Backend& backend, const TraceCostOptions& options) {
  TraceCost cost{options, {}, {}, {}};
  TEAPOT_TRY(const auto loop, DecodeLoop::create(model, backend, options.load, 2 * options.pairs));
  engine::StepRecorder off(backend), on(backend);
  std::vector<double> differences;
  for (uint32_t pair = 0; pair < options.pairs; ++pair) {
    if (on.on() && on.done()) on.finish(engine::Recording::End::kSteps);
    if (!on.on()) on.begin(std::make_unique<engine::Recording>(backend.workers(), kRoom));
    const bool traced_first = b_goes_first(options.seed, pair);
    for (const bool traced : {traced_first, !traced_first}) {
      const uint64_t began = ticks();
      TEAPOT_CHECK(loop->step(traced ? on : off));
      (traced ? cost.traced_us : cost.plain_us).push_back(static_cast<double>(ticks() - began) / ticks_per_ns() / 1000);
    }
    if (on.done() == engine::Recording::End::kMemory) return fail(ErrorKind::kMemory, "{} steps are too many to be remembered", kRoom);
    differences.push_back(std::log(cost.traced_us.back() / cost.plain_us.back()));
  }
  cost.figures = PairedFigures::of(differences, kAlpha);
  return cost;
}

std::string to_text(const TraceCost& cost) {
  const auto percent = [](double d) { return 100 * (std::exp(d) - 1); };
  const PairedFigures& figures = cost.figures;
  return fmt::format(
      "{} pairs of steps of {} sequence{}: {:.1f} us untraced, {:.1f} us traced (medians)\n"
      "tracing costs {:+.2f} % (95 % interval {:+.2f} to {:+.2f} %; correlation of neighbours {:.2f})\n",
      figures.pairs, cost.options.load.sequences, cost.options.load.sequences == 1 ? "" : "s", median(cost.plain_us),
      median(cost.traced_us), percent(figures.mean), percent(figures.mean - figures.half_width), percent(figures.mean + figures.half_width),
      figures.lag1);
}

}  // namespace teapot::workbench
