#include <algorithm>
#include <cmath>

#include "workbench/tune/meaning.h"
#include "workbench/tune/moves.h"
#include "workbench/tune/search_run.h"

namespace teapot::workbench {
namespace {

constexpr double kAlpha = 0.10;  // chance that a session adopts anything that is no gain
constexpr uint32_t kCap = 24;    // pairs of a race
constexpr uint32_t kNeighbourCap = 16, kSettledCap = 48;
constexpr double kNeighbourAbove = 0.005;  // in d: values beside an adopted one aren't left alone as soon

}  // namespace

MoveVerdict Search::verdict_of(const Move& move, std::string_view phase, MoveState state, std::string reason) const {
  MoveVerdict verdict;
  verdict.knob = move.knob->name;
  verdict.value = move.value;
  verdict.with = move.with;
  verdict.phase = std::string(phase);
  verdict.state = state;
  verdict.reason = std::move(reason);
  return verdict;
}

void Search::add(MoveVerdict verdict) {
  std::string text =
      fmt::format("{}: {}", name_of(verdict.knob, verdict.value, verdict.with), kMoveStateNames[static_cast<size_t>(verdict.state)]);
  if (verdict.effect.pairs > 0) text += fmt::format(", {:+.2f} % after {} pairs", verdict.effect.percent(), verdict.effect.pairs);
  if (!verdict.reason.empty()) text += "; " + verdict.reason;
  note(text);
  result_.verdicts.push_back(std::move(verdict));
}

std::optional<Move> Search::move_to(const Knob& knob, const KnobValue& value, std::string_view phase) {
  Move move{.knob = &knob, .value = value, .target = {}, .with = {}};
  std::string refusal = refusal_of(knob, value, options_);
  if (refusal.empty()) {
    if (auto target = closure(catalogue_, incumbent_, {knob.name, value})) {
      move.target = *std::move(target);
    } else {
      refusal = std::move(target).error().message;
    }
  } else if (knob.set.kind == SetKind::kHost) {
    result_.host_notes.push_back(fmt::format("{}: {} (with {})", knob.name, knob.set.name, value.value_or("nothing")));
  }
  if (refusal.empty()) {
    for (const Assignment& change : difference(catalogue_, incumbent_, move.target)) {
      if (change.knob == knob.name) continue;
      refusal = refusal_of(*catalogue_.find(change.knob), change.value, options_);
      if (!refusal.empty()) break;
      move.with.push_back(change);
    }
  }
  if (!refusal.empty()) {
    add(verdict_of(move, phase, MoveState::kRefused, refusal));
    return std::nullopt;
  }
  return move;
}

Result<bool> Search::starts_well(const Move& move, std::string_view phase) {
  meter_.show("a start with " + move.name());
  TEAPOT_TRY(const Validation* found, starts_.look_at(move.target));
  MoveVerdict verdict = verdict_of(move, phase, MoveState::kWin);
  const auto evidence = std::ranges::find(found->evidence, move.knob->name, &Evidence::knob);
  if (evidence != found->evidence.end()) verdict.evidence = *evidence;
  if (found->fault != TrialFault::kNone) {
    verdict.state = broken_state(found->fault);
    verdict.reason = found->what;
  } else {
    TEAPOT_TRY(const Validation* incumbent, starts_.look_at(incumbent_));
    const std::string changed = result_.text_gate ? text_difference(incumbent->replies, found->replies) : "";
    const std::vector<Assignment> changes = difference(catalogue_, incumbent_, move.target);
    if (!changed.empty() && !text_may_change(catalogue_, changes, options_)) {
      verdict.state = MoveState::kBrokenText;
      verdict.reason = changed + (text_risk(catalogue_, changes) == TextRisk::kSame ? "" : " (--allow-text may lets it)");
    } else if (verdict.evidence && verdict.evidence->seen == Seen::kNo) {
      verdict.state = MoveState::kInert;
      verdict.reason = verdict.evidence->what;
    } else if (!changed.empty()) {
      std::string warning = fmt::format("{} changes the text, as it was allowed to: {}", move.name(), changed);
      if (std::ranges::find(result_.warnings, warning) == result_.warnings.end()) result_.warnings.push_back(std::move(warning));
    }
  }
  if (verdict.state == MoveState::kWin) return true;
  add(std::move(verdict));
  return false;
}

const Adopted* Search::replaced_by(const Move& move) const {
  const auto same = [&](const Adopted& each) {
    return each.knob == move.knob->name && each.value == value_in(catalogue_, incumbent_, each.knob);
  };
  const auto found = std::ranges::find_if(adopted_, same);
  return found == adopted_.end() ? nullptr : &*found;
}

// By three standard errors, from what A against A says of a pair.
bool Search::clearly_slower(const Effect& effect) const {
  return effect.pairs > 0 && effect.mean > 3 * result_.null.sd / std::sqrt(static_cast<double>(effect.pairs));
}

bool Search::means_the_same(const KnobProfile& one, const KnobProfile& other) const {
  return meaning_of(catalogue_, one, options_.host, options_.parallel) == meaning_of(catalogue_, other, options_.host, options_.parallel);
}

// After a win: whether it harms anything else.
MoveState Search::guarded(const Walk& walk, const Move& move, bool more, std::string& reason) const {
  const Adopted* replaced = replaced_by(move);
  const Effect* before = replaced == nullptr ? nullptr : &replaced->effect;
  const Truth loads = walk.no_load_slower(kLoadHarm, before), ttft = walk.ttft_not_slower(options_.max_ttft_harm, before);
  if (loads == Truth::kFalse) {
    reason = fmt::format("TPOT with {} users rises by more than {:g} %", options_.parallel[walk.slowest_load()], 100 * kLoadHarm);
    return MoveState::kRefused;
  }
  if (ttft == Truth::kFalse) {
    reason = fmt::format("TTFT rises by more than {:g} % (--max-ttft-harm)", 100 * options_.max_ttft_harm);
    return MoveState::kRefused;
  }
  if (more && (loads == Truth::kUnknown || ttft == Truth::kUnknown)) return MoveState::kInconclusive;
  if (ttft == Truth::kUnknown) {
    reason = fmt::format("a gain, but a harm to TTFT of more than {:g} % is not excluded", 100 * options_.max_ttft_harm);
    return MoveState::kRefused;
  }
  if (loads == Truth::kUnknown) {
    const uint32_t users = options_.parallel[walk.slowest_load()];
    if (!walk.no_load_looks_slower(before)) {
      reason = fmt::format("a gain, but a harm of more than {:g} % with {} users is not excluded", 100 * kLoadHarm, users);
      return MoveState::kRefused;
    }
    reason = fmt::format("no load looks slower, but with {} users the noise leaves room for {:g} %", users, 100 * kLoadHarm);
  }
  const bool drafts_differ = move.knob->scope == KnobScope::kSpeculation || std::ranges::any_of(move.with, [&](const Assignment& change) {
                               return catalogue_.find(change.knob)->scope == KnobScope::kSpeculation;
                             });
  if (!drafts_differ && !walk.acceptance_kept()) {
    reason = "drafts are accepted less often";
    return MoveState::kRefused;
  }
  return MoveState::kWin;
}

// Of two values of an adopted knob both are better than what was there before: which one stays is no claim, and asks for less evidence.
RaceRules Search::rules(std::string_view phase) const {
  RaceRules rules;
  rules.e_threshold = (phase == kNeighbour ? 1 : result_.races) / kAlpha;
  rules.min_difference = phase == kNeighbour ? -kScreenAbove : min_difference_;
  rules.null_alpha = kSequenceAlpha;
  rules.screen_after = phase == kSettled ? 0 : kScreenAfter;
  rules.screen_above = phase == kNeighbour ? kNeighbourAbove : kScreenAbove;
  rules.cap = phase == kNeighbour ? kNeighbourCap : phase == kSettled ? kSettledCap : kCap;
  return rules;
}

Result<MoveVerdict> Search::race(const Move& move, std::string_view phase) {
  MoveVerdict verdict = verdict_of(move, phase, MoveState::kInconclusive);
  raced_.emplace(incumbent_, move.target);
  TEAPOT_TRY(const Validation* found, starts_.look_at(move.target));
  const auto evidence = std::ranges::find(found->evidence, move.knob->name, &Evidence::knob);
  if (evidence != found->evidence.end()) verdict.evidence = *evidence;
  const RaceRules race_rules = rules(phase);
  Race race(race_rules);
  Walk walk(options_.objective, options_.parallel.size());
  PairMeter::Series series = meter_.series(PairKind::kRace, move.name(), incumbent_, move.target);
  const bool may_change = text_may_change(catalogue_, difference(catalogue_, incumbent_, move.target), options_);
  for (;;) {
    if (meter_.left() == 0) {
      verdict.reason = kUsedUp;
      break;
    }
    TEAPOT_TRY(const PairOutcome outcome, meter_.measure(series));
    if (outcome.b.fault != TrialFault::kNone) {
      verdict.state = broken_state(outcome.b.fault);
      verdict.reason = outcome.b.what;
      starts_.set_failed(move.target, outcome.b.fault, outcome.b.what);
      break;
    }
    if (std::string changed = may_change ? "" : meter_.text_difference(outcome); !changed.empty()) {
      verdict.state = MoveState::kBrokenText;
      verdict.reason = std::move(changed);
      break;
    }
    race.add(walk.add(outcome));
    if (race.state() == RaceState::kRunning) continue;
    if (race.state() != RaceState::kWin) break;
    const bool more = walk.pairs() < race_rules.cap && meter_.left() > 0;
    verdict.state = guarded(walk, move, more, verdict.reason);
    if (verdict.state != MoveState::kInconclusive) break;
  }
  verdict.effect = walk.effect();
  const bool seen = verdict.evidence && verdict.evidence->seen == Seen::kYes;
  if (race.state() == RaceState::kLose) verdict.state = MoveState::kLose;
  if (race.state() == RaceState::kScreened) verdict.state = MoveState::kScreened;
  if (phase == kNeighbour && verdict.state == MoveState::kInconclusive && walk.pairs() > kScreenAfter && verdict.effect.mean < 0) {
    verdict.state = guarded(walk, move, /*more=*/false, verdict.reason);
    if (verdict.state == MoveState::kWin)
      verdict.reason = "undecided, but of two values that both made it faster the one with the better mean stays";
  }
  if (race.state() == RaceState::kNull) verdict.state = seen ? MoveState::kNull : MoveState::kNotInForce;
  return verdict;
}

void Search::take(const Move& move, MoveVerdict verdict) {
  if (verdict.state == MoveState::kWin) {
    adopted_.push_back({move.knob->name, move.value, move.with, incumbent_, move.target, verdict.effect});
    incumbent_ = move.target;
    verdict.adopted = true;
    meter_.set_incumbent(incumbent_, static_cast<uint32_t>(adopted_.size()));
  }
  add(std::move(verdict));
}

}  // namespace teapot::workbench
