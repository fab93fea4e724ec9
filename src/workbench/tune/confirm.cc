#include "workbench/tune/confirm.h"

#include <cmath>

#include "workbench/tune/moves.h"
#include "workbench/tune/walk.h"

namespace teapot::workbench {
namespace {

bool passed(const PairedFigures& figures, double limit) { return figures.mean - figures.half_width > std::log1p(limit); }

std::string harm_of(const Confirmation& confirmation, const SearchOptions& options) {
  for (size_t i = 0; i < confirmation.loads.size(); ++i) {
    if (!passed(confirmation.loads[i], kLoadHarm)) continue;
    return fmt::format("TPOT with {} users: {}, a rise of more than {:g} %", options.parallel[i], change_text(confirmation.loads[i]),
                       100 * kLoadHarm);
  }
  if (!passed(confirmation.ttft, options.max_ttft_harm)) return "";
  return fmt::format("TTFT: {}, a rise of more than {:g} % (--max-ttft-harm)", change_text(confirmation.ttft), 100 * options.max_ttft_harm);
}

struct Confirming {
  const Catalogue& catalogue;
  const SearchOptions& options;
  PairMeter& meter;
  const KnobProfile& base;
};

// Nothing: the profile failed under load.
Result<std::optional<Confirmation>> confirm_once(const Confirming& confirming, const KnobProfile& profile, double alpha) {
  const auto& [catalogue, options, meter, base] = confirming;
  PairMeter::Series series = meter.series(PairKind::kConfirm, "confirmation", base, profile);
  const bool may_change = text_may_change(catalogue, difference(catalogue, base, profile), options);
  std::vector<double> objective, ttft;
  std::vector<std::vector<double>> loads(options.parallel.size());
  std::string changed;
  for (uint32_t pair = 0; pair < kConfirmPairs; ++pair) {
    TEAPOT_TRY(const PairOutcome outcome, meter.measure(series));
    if (outcome.b.fault != TrialFault::kNone) return std::nullopt;
    objective.push_back(difference_of(options.objective, outcome));
    ttft.push_back(log_ratio(outcome.a, outcome.b, &TurnFigures::ttft_ms));
    for (size_t i = 0; i < loads.size(); ++i) loads[i].push_back(std::log(outcome.b.loads[i].tpot_ms / outcome.a.loads[i].tpot_ms));
    if (!may_change && changed.empty()) changed = meter.text_difference(outcome);
  }
  Confirmation confirmation;
  confirmation.profile = profile;
  confirmation.pairs = PairedFigures::of(objective, alpha);
  confirmation.ttft = PairedFigures::of(ttft, alpha);
  for (const std::vector<double>& load : loads) confirmation.loads.push_back(PairedFigures::of(load, alpha));
  confirmation.level = 1 - alpha;
  confirmation.harm = changed.empty() ? harm_of(confirmation, options) : changed;
  return confirmation;
}

}  // namespace

std::string change_text(const PairedFigures& figures) {
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f})", figures.percent(), figures.low_percent(), figures.high_percent());
}

Status confirm(const Catalogue& catalogue, const SearchOptions& options, PairMeter& meter, const std::vector<Adopted>& adopted,
               const KnobProfile& winner, SearchResult& result) {
  size_t low = 0, high = adopted.size(), moves = high;  // moves: in the profile that is asked about; low of them are confirmed
  for (double alpha = 0.05; moves > low; alpha /= 2) {
    const bool first = moves == adopted.size();
    if (!first && meter.left() < kConfirmPairs) return {};
    const KnobProfile& profile = first ? winner : adopted[moves - 1].after;
    if (profile == result.base) return {};
    TEAPOT_TRY(std::optional<Confirmation> confirmation, confirm_once({catalogue, options, meter, result.base}, profile, alpha));
    const bool good = confirmation && confirmation->confirmed();
    if (confirmation) {
      confirmation->moves = moves;
      if (!confirmation->harm.empty())
        result.warnings.push_back(fmt::format("the profile of {} moves is not confirmed: {}", moves, confirmation->harm));
      result.confirmations.push_back(*std::move(confirmation));
    } else {
      result.warnings.push_back(fmt::format("the profile of {} moves failed during its confirmation", moves));
    }
    (good ? low : high) = moves;
    moves = good && first ? low : (low + high) / 2;
  }
  return {};
}

}  // namespace teapot::workbench
