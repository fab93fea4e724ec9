#include <algorithm>
#include <tuple>

#include "workbench/tune/moves.h"
#include "workbench/tune/search_run.h"

namespace teapot::workbench {

// A tournament chooses by few pairs, and before other knobs had their say: the values next to the one that it chose are raced, too.
Status Search::try_neighbours() {
  // adopted_ grows while moves win: on in the same direction.
  for (size_t next = 0; next < adopted_.size();) {
    const Knob& knob = *catalogue_.find(adopted_[next++].knob);
    for (const KnobValue& value : neighbours(knob, value_in(catalogue_, incumbent_, knob.name))) {
      if (meter_.left() == 0) return {};
      const auto target = closure(catalogue_, incumbent_, {knob.name, value});
      const auto before = closure(catalogue_, incumbent_, {knob.name, value_in(catalogue_, base_, knob.name)});
      const bool undone = before && target && means_the_same(*before, *target);
      if (undone || !target || raced_.contains({incumbent_, *target}) || raced_.contains({*target, incumbent_})) continue;
      const std::optional<Move> move = move_to(knob, value, kNeighbour);
      if (!move) continue;
      TEAPOT_TRY(const bool good, starts_well(*move, kNeighbour));
      if (!good) continue;
      TEAPOT_TRY(MoveVerdict verdict, race(*move, kNeighbour));
      const bool won = verdict.state == MoveState::kWin;
      take(*move, std::move(verdict));
      if (won) break;  // its own neighbours follow
    }
  }
  return {};
}

// Three pairs are enough to leave a setting alone, but not to say that it does nothing. Where nothing could show whether it was in force,
// only measuring tells that.
Status Search::settle() {
  std::vector<std::pair<const Knob*, KnobValue>> open;
  for (const MoveVerdict& verdict : result_.verdicts) {
    const Knob* knob = catalogue_.find(verdict.knob);
    const bool unseen = knob->check == CheckKind::kEcho || knob->check == CheckKind::kNone;
    const bool screened = verdict.state == MoveState::kScreened && verdict.effect.pairs >= kScreenAfter;
    if (unseen && screened && !clearly_slower(verdict.effect)) open.emplace_back(knob, verdict.value);
  }
  for (const auto& [knob, value] : open) {
    if (meter_.left() == 0) return {};
    const std::optional<Move> move = move_to(*knob, value, kSettled);
    if (!move) continue;
    TEAPOT_TRY(const bool good, starts_well(*move, kSettled));
    if (!good) continue;
    TEAPOT_TRY(MoveVerdict verdict, race(*move, kSettled));
    take(*move, std::move(verdict));
  }
  return {};
}

// Once more what was no gain before something related was adopted, and what three pairs screened although sources promise a gain.
Status Search::second_pass() {
  std::vector<std::pair<const Knob*, KnobValue>> again;
  for (const MoveVerdict& verdict : result_.verdicts) {
    const Knob* knob = catalogue_.find(verdict.knob);
    const bool screened = verdict.state == MoveState::kScreened && verdict.effect.pairs >= kScreenAfter;
    const bool open = screened || verdict.state == MoveState::kNull || verdict.state == MoveState::kNotInForce ||
                      verdict.state == MoveState::kInconclusive;
    const bool promised = screened && knob->gain && knob->gain->first < kScreenAbove * 100;
    const bool near = std::ranges::any_of(
        adopted_, [&](const Adopted& move) { return move.knob != verdict.knob && related(*knob, *catalogue_.find(move.knob)); });
    const auto target = closure(catalogue_, incumbent_, {knob->name, verdict.value});
    const bool other = target && *target != incumbent_ && !raced_.contains({incumbent_, *target});
    if (open && (promised || (near && other)) && !clearly_slower(verdict.effect)) again.emplace_back(knob, verdict.value);
  }
  std::ranges::sort(again, {},
                    [](const auto& move) { return std::tuple(move.first->gain ? move.first->gain->first : 0, move.first, move.second); });
  for (const auto& [knob, value] : again) {
    if (meter_.left() == 0) return {};
    const auto target = closure(catalogue_, incumbent_, {knob->name, value});
    if (!target || *target == incumbent_) continue;
    const std::optional<Move> move = move_to(*knob, value, kSecondPass);
    if (!move) continue;
    TEAPOT_TRY(const bool good, starts_well(*move, kSecondPass));
    if (!good) continue;
    TEAPOT_TRY(MoveVerdict verdict, race(*move, kSecondPass));
    take(*move, std::move(verdict));
  }
  return {};
}

}  // namespace teapot::workbench
