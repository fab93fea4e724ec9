#include <algorithm>
#include <cmath>
#include <limits>

#include "workbench/bench/compare.h"
#include "workbench/pairs/race.h"

namespace teapot::workbench {
namespace {

constexpr uint32_t kMostFaulty = 5;  // pairs with faults that are borne: more, and what is left is a selection

using Time = double TurnFigures::*;
using Pairs = std::vector<const PairRecord*>;

// ln of a turn's time at one load, or its mean over all of them.
double log_time(const PairRecord& pair, TurnFigures LoadPair::* arm, Time time, std::optional<size_t> load) {
  if (load) return std::log(pair.loads[*load].*arm.*time);
  double sum = 0;
  for (const LoadPair& one : pair.loads) sum += std::log(one.*arm.*time);
  return sum / static_cast<double>(pair.loads.size());
}

RatioFigures ratio_figures(const Pairs& pairs, Time time, std::optional<size_t> load, double alpha) {
  std::vector<double> ln_a, ln_b;
  for (const PairRecord* pair : pairs) {
    ln_a.push_back(log_time(*pair, &LoadPair::a, time, load));
    ln_b.push_back(log_time(*pair, &LoadPair::b, time, load));
  }
  return RatioFigures::of(ln_a, ln_b, alpha);
}

TimeFigures time_figures(const Pairs& pairs, std::optional<size_t> load, double alpha) {
  return {ratio_figures(pairs, &TurnFigures::tpot_ms, load, alpha), ratio_figures(pairs, &TurnFigures::ttft_ms, load, alpha)};
}

Verdict verdict_of(const CompareOptions& options, const Pairs& pairs) {
  Race race({.e_threshold = 1 / options.alpha,
             .min_difference = std::log1p(options.min_difference),
             .null_rule = NullRule::kEquivalent,
             .null_alpha = options.alpha,
             .cap = std::numeric_limits<uint32_t>::max()});
  for (const PairRecord* pair : pairs) {
    race.add(log_time(*pair, &LoadPair::b, &TurnFigures::tpot_ms, std::nullopt) -
             log_time(*pair, &LoadPair::a, &TurnFigures::tpot_ms, std::nullopt));
  }
  switch (race.state()) {
    case RaceState::kWin:
      return Verdict::kBetter;
    case RaceState::kLose:
      return Verdict::kWorse;
    case RaceState::kNull:
      return Verdict::kNoDifference;
    default:
      return Verdict::kUndecided;
  }
}

CompareEnd end_of(const CompareOptions& options, const Comparison& found) {
  if (found.null.tpot.ln_e >= -std::log(options.alpha)) return CompareEnd::kNullDiffers;
  if (found.faulty >= kMostFaulty) return CompareEnd::kFaults;
  if (found.mean.tpot.log_ratio.pairs >= options.pairs) return CompareEnd::kUsedUp;
  if (options.all_pairs) return CompareEnd::kRunning;
  const bool decided = found.gate ? found.gate->passed || found.gate->excluded : found.verdict != Verdict::kUndecided;
  return decided ? CompareEnd::kDecided : CompareEnd::kRunning;
}

// What makes the figures doubtful, in words for the reader.
void warn(const CompareOptions& options, Comparison& found) {
  auto& warnings = found.warnings;
  const PairedFigures& pairs = found.mean.tpot.log_ratio;
  if (found.faulty > 0)
    warnings.push_back(fmt::format("{} pair(s) with faults don't count; the first: {}", found.faulty, found.first_fault));
  if (pairs.pairs >= 8 && std::abs(pairs.lag1) > 2 / std::sqrt(pairs.pairs)) {
    warnings.push_back(fmt::format(
        "pairs depend on the ones before (lag-1 correlation {:.2f}): the test calls equal servers different more often than it says",
        pairs.lag1));
  }
  if (options.aa_pairs == 0) warnings.emplace_back("A was not run against itself: nobody knows what this set-up calls different");
  if (found.smallest_difference && *found.smallest_difference > options.min_difference) {
    const double ratio = *found.smallest_difference / options.min_difference;
    warnings.push_back(fmt::format("{} pairs find about {:.2f} % in this noise; {:.2f} % would take about {:.0f}", options.pairs,
                                   100 * *found.smallest_difference, 100 * options.min_difference,
                                   std::ceil(options.pairs * ratio * ratio)));
  }
  if (found.a_cached_tokens > 0 || found.b_cached_tokens > 0) {
    warnings.push_back(fmt::format("prompts hit the prefix cache: {} tokens on A, {} on B; TTFT is that of a cache", found.a_cached_tokens,
                                   found.b_cached_tokens));
  }
  if (found.null_replies.different > 0) {
    warnings.push_back(fmt::format("A does not repeat itself: {} of {} replies differ between two turns of the same prompts",
                                   found.null_replies.different, found.null_replies.compared));
  }
  if (!found.read_gbs.empty()) {
    const auto [least, most] = std::ranges::minmax(found.read_gbs);
    if (most > 1.1 * least) {
      warnings.push_back(fmt::format("the memory bandwidth of this host moved between {:.1f} and {:.1f} GB/s", least, most));
    }
  }
}

}  // namespace

Comparison analyse(const CompareOptions& options, std::span<const PairRecord> pairs) {
  Comparison found;
  Pairs null, real;
  for (const PairRecord& pair : pairs) {
    if (pair.read_gbs) found.read_gbs.push_back(*pair.read_gbs);
    if (!pair.valid()) {
      if (found.faulty++ == 0) found.first_fault = pair.fault;
      continue;
    }
    (pair.null ? null : real).push_back(&pair);
    for (const LoadPair& load : pair.loads) {
      (pair.null ? found.null_replies : found.replies).add(load.replies);
      if (pair.null) continue;
      found.a_cached_tokens += load.a.cached_tokens;
      found.b_cached_tokens += load.b.cached_tokens;
    }
  }
  found.mean = time_figures(real, std::nullopt, options.alpha);
  for (size_t load = 0; load < options.parallel.size(); ++load) found.loads.push_back(time_figures(real, load, options.alpha));
  found.null = time_figures(null, std::nullopt, options.alpha);
  if (null.size() >= 2) found.smallest_difference = std::expm1(smallest_difference(found.null.tpot.log_ratio.sd, options.pairs));
  found.verdict = verdict_of(options, real);
  if (options.target_ratio) {
    const RatioFigures& tpot = found.mean.tpot;
    found.gate = Gate{*options.target_ratio, tpot.high() <= *options.target_ratio, tpot.low() > *options.target_ratio};
  }
  found.end = end_of(options, found);
  warn(options, found);
  return found;
}

}  // namespace teapot::workbench
