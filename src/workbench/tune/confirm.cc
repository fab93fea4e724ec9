#include "workbench/tune/confirm.h"

namespace teapot::workbench {
namespace {

// Nothing: the profile failed under load.
Result<std::optional<Confirmation>> confirm_once(PairMeter& meter, const KnobProfile& base, const KnobProfile& profile, double alpha,
                                                 Objective objective) {
  PairMeter::Series series = meter.series(PairKind::kConfirm, "confirmation", base, profile);
  std::vector<double> differences;
  for (uint32_t pair = 0; pair < kConfirmPairs; ++pair) {
    TEAPOT_TRY(const PairOutcome outcome, meter.measure(series));
    if (outcome.b.fault != TrialFault::kNone) return std::nullopt;
    differences.push_back(difference_of(objective, outcome));
  }
  Confirmation confirmation;
  confirmation.profile = profile;
  confirmation.pairs = PairedFigures::of(differences, alpha);
  confirmation.level = 1 - alpha;
  return confirmation;
}

}  // namespace

Status confirm(PairMeter& meter, const std::vector<Adopted>& adopted, const KnobProfile& base, const KnobProfile& winner,
               SearchResult& result) {
  size_t low = 0, high = adopted.size(), moves = high;  // moves: in the profile that is asked about; low of them are confirmed
  for (double alpha = 0.05; moves > low; alpha /= 2) {
    if (!result.confirmations.empty() && meter.left() < kConfirmPairs) return {};
    const KnobProfile& profile = moves == adopted.size() ? winner : adopted[moves - 1].after;
    if (profile == base) return {};
    TEAPOT_TRY(std::optional<Confirmation> confirmation, confirm_once(meter, base, profile, alpha, meter.objective()));
    const bool good = confirmation && confirmation->confirmed();
    if (confirmation) {
      confirmation->moves = moves;
      result.confirmations.push_back(*std::move(confirmation));
    } else {
      result.warnings.push_back(fmt::format("the profile of {} moves failed during its confirmation", moves));
    }
    (good ? low : high) = moves;
    moves = good && moves == adopted.size() ? low : (low + high) / 2;
  }
  return {};
}

}  // namespace teapot::workbench
