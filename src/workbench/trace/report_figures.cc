#include "workbench/trace/report_figures.h"

#include <fmt/format.h>

namespace teapot::workbench::trace {

std::vector<KindTimes> kinds_of(const Analysis& analysis) {
  std::vector<KindTimes> kinds;
  for (const StepTimes& step : analysis.steps) {
    if (!analysis.counts(step)) continue;
    auto kind = std::ranges::lower_bound(kinds, step.step.kind, {}, &KindTimes::kind);
    if (kind == kinds.end() || kind->kind != step.step.kind) kind = kinds.insert(kind, {.kind = step.step.kind});
    ++kind->steps;
    kind->wall_ns += step.wall_ns();
    for (size_t c = 0; c < kClasses; ++c) kind->ns[c] += step.ns[c];
  }
  if (kinds.size() < 2) kinds.clear();
  return kinds;
}

std::vector<std::string> own_facts(const Analysis& analysis) {
  std::vector<std::string> facts;
  if (analysis.workers > 0) {
    const double waited = per_step(analysis, us(analysis.barrier_ns)) / static_cast<double>(analysis.workers);
    facts.push_back(fmt::format("at barriers: {:.1f} us a step and worker, {:.1f} % of the step", waited,
                                100 * waited / per_step(analysis, us(analysis.counted_wall_ns()))));
  }
  int64_t faults = 0;
  bool told = false;
  for (const StepTimes& step : analysis.steps) {
    if (!analysis.counts(step) || step.step.page_faults < 0) continue;
    told = true;
    faults += step.step.page_faults;
  }
  if (told) {
    facts.push_back(fmt::format("page faults: {:.1f} a step{}", per_step(analysis, static_cast<double>(faults)),
                                analysis.page_faults_by.empty() ? "" : fmt::format(" (counted by {})", analysis.page_faults_by)));
  }
  if (analysis.pauses_ns > 0) {
    facts.push_back(fmt::format("no request: {:.1f} ms between steps, part of none", us(analysis.pauses_ns) / 1000));
  }
  return facts;
}

}  // namespace teapot::workbench::trace
