#include "workbench/tune/prune.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "workbench/pairs/race.h"
#include "workbench/tune/walk.h"

namespace teapot::workbench {
namespace {

constexpr double kPruneAlpha = 0.10;
constexpr uint32_t kPruneCap = 12;  // pairs

struct Pruning {
  const SearchOptions& options;
  Starts& starts;
  PairMeter& meter;
  double min_difference;
};

// The incumbent (B) against what is without the move (A).
Status race_without(const Pruning& pruning, const KnobProfile& without, const KnobProfile& incumbent, PruneVerdict& verdict) {
  Race race({.e_threshold = 1 / kPruneAlpha, .min_difference = pruning.min_difference, .null_alpha = kSequenceAlpha, .cap = kPruneCap});
  Walk walk(pruning.options.objective, pruning.options.parallel.size());
  PairMeter::Series series = pruning.meter.series(PairKind::kPrune, "without " + name_of(verdict.knob, verdict.value), without, incumbent);
  while (race.state() == RaceState::kRunning && pruning.meter.left() > 0) {
    TEAPOT_TRY(const PairOutcome outcome, pruning.meter.measure(series));
    if (outcome.b.fault != TrialFault::kNone) {
      verdict.reason = "the incumbent failed: " + outcome.b.what;
      return {};
    }
    race.add(walk.add(outcome));
  }
  verdict.effect = walk.effect();
  if (race.state() == RaceState::kWin) verdict.state = MoveState::kWin;
  if (race.state() == RaceState::kLose) verdict.state = MoveState::kLose;
  if (race.state() == RaceState::kNull) verdict.state = MoveState::kNull;
  return {};
}

}  // namespace

Status prune(const Catalogue& catalogue, const SearchOptions& options, Starts& starts, PairMeter& meter, double min_difference,
             const std::vector<Adopted>& adopted, KnobProfile& incumbent, SearchResult& result) {
  std::vector<const Adopted*> moves;
  moves.reserve(adopted.size());
  for (const Adopted& move : adopted) moves.push_back(&move);
  std::ranges::sort(moves, std::greater{}, [](const Adopted* move) { return std::pair(move->effect.mean, move); });
  for (const Adopted* next : moves) {
    const Adopted& move = *next;
    // Another value has taken its place, or it went with another move.
    if (value_in(catalogue, result.simplest, move.knob) != move.value) continue;
    if (meter.left() == 0) return {};
    const auto without = closure(catalogue, result.simplest, {move.knob, value_in(catalogue, result.base, move.knob)});
    if (!without) continue;
    PruneVerdict verdict{.knob = move.knob, .value = move.value, .effect = {}, .reason = {}};
    TEAPOT_TRY(const Validation* found, starts.look_at(*without));
    TEAPOT_TRY(const Validation* now, starts.look_at(incumbent));
    const std::string changed = result.text_gate ? text_difference(now->replies, found->replies) : "";
    if (found->fault != TrialFault::kNone || !changed.empty()) {
      verdict.state = MoveState::kWin;
      verdict.reason = changed.empty() ? "without it: " + found->what : "without it the text changes: " + changed;
      result.pruned.push_back(std::move(verdict));
      continue;
    }
    TEAPOT_CHECK(race_without({options, starts, meter, min_difference}, *without, incumbent, verdict));
    if (verdict.state == MoveState::kLose) incumbent = *without;
    if (verdict.state == MoveState::kLose || verdict.state == MoveState::kNull) result.simplest = *without;
    result.pruned.push_back(std::move(verdict));
  }
  return {};
}

}  // namespace teapot::workbench
