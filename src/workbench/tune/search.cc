#include "workbench/tune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "workbench/tune/confirm.h"
#include "workbench/tune/moves.h"
#include "workbench/tune/search_run.h"
#include "workbench/tune/tournament.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMostRacedValues = 3;  // of one knob; of more, a tournament chooses one

// Values that may be tried, of all knobs.
size_t moves_of(const Catalogue& catalogue, const SearchOptions& options, const std::vector<const Knob*>& ladder, const KnobProfile& base) {
  size_t moves = 0;
  for (const Knob* knob : ladder) {
    for (const KnobValue& value : values_to_try(catalogue, *knob, base, base, options)) {
      if (refusal_of(*knob, value, options).empty()) ++moves;
    }
  }
  return moves;
}

}  // namespace

Status Search::climb() {
  TEAPOT_CHECK(begin());
  TEAPOT_CHECK(look_at_base());
  TEAPOT_CHECK(ladder());
  TEAPOT_CHECK(try_neighbours());
  TEAPOT_CHECK(settle());
  TEAPOT_CHECK(second_pass());
  result_.simplest = incumbent_;
  TEAPOT_CHECK(prune(catalogue_, options_, starts_, meter_, min_difference_, adopted_, incumbent_, result_));
  meter_.set_incumbent(incumbent_, static_cast<uint32_t>(adopted_.size()));
  meter_.set_reserve(0);
  note("confirmation on fresh prompts");
  TEAPOT_CHECK(confirm(catalogue_, options_, meter_, adopted_, incumbent_, result_));
  result_.end = SearchEnd::kDone;
  return {};
}

Status Search::begin() {
  TEAPOT_CHECK(check(catalogue_, options_));
  base_ = incumbent_ = result_.base = canonical(catalogue_, options_.base);
  TEAPOT_TRY(ladder_, ladder_of(catalogue_, options_));
  result_.races = static_cast<uint32_t>(moves_of(catalogue_, options_, ladder_, base_));
  return {};
}

Result<Validation> Search::start_base() {
  for (std::string failed;;) {
    auto found = trials_.validate(base_);
    if (!found && !failed.empty() && trials_.over()) return fail(ErrorKind::kBusy, "{}", failed);
    if (!found) return found;
    if (found->fault == TrialFault::kNone) return found;
    failed = fmt::format("the base can't be measured ({}): {}", kTrialFaultNames[static_cast<size_t>(found->fault)], found->what);
    if (!trials_.recalled()) return fail(ErrorKind::kInvalid, "{}", failed);
  }
}

Status Search::look_at_base() {
  meter_.set_incumbent(base_, 0);
  meter_.show("the base's start");
  TEAPOT_TRY(const Validation first, start_base());
  meter_.show("the base's start, once more");
  TEAPOT_TRY(Validation again, start_base());
  const Validation* second = &starts_.remember(base_, std::move(again));
  result_.version = second->version;
  result_.start_s = second->start_s;
  result_.warnings.insert(result_.warnings.end(), second->notes.begin(), second->notes.end());
  if (!catalogue_.version.empty() && second->version.find(catalogue_.version) == std::string::npos) {
    result_.warnings.push_back(
        fmt::format("the catalogue is of {} {}; the server says '{}'", catalogue_.server, catalogue_.version, second->version));
  }
  for (const Evidence& evidence : second->evidence) {
    if (evidence.seen == Seen::kNo)
      result_.warnings.push_back(fmt::format("the base's {} is not in force: {}", evidence.knob, evidence.what));
  }
  if (const std::string difference = text_difference(first.replies, second->replies); !difference.empty()) {
    result_.text_gate = false;
    result_.warnings.push_back("the text gate is off, the base is not even equal to itself: " + difference);
  }
  note("A against A");
  TEAPOT_CHECK(meter_.measure_null(kNullPairs));
  const uint32_t budget = meter_.left();
  const auto knobs = std::ranges::count_if(ladder_, [&](const Knob* knob) { return moves_of(catalogue_, options_, {knob}, base_) > 0; });
  gain_by_sd_ = std::sqrt(12.0 * static_cast<double>(knobs) / std::max(1u, budget));
  result_.smallest_gain = result_.null.sd * gain_by_sd_;
  min_difference_ = std::max(-kScreenAbove, *result_.smallest_gain);
  note(fmt::format("a pair's sd is {:.2f} %: {} pairs for {} knobs find, or exclude, gains of about {:.2f} %", 100 * result_.null.sd,
                   budget, knobs, 100 * *result_.smallest_gain));
  if (*result_.smallest_gain <= options_.coarsest_resolution) return {};
  return meter_.end(
      SearchEnd::kHopeless,
      fmt::format("a pair's sd is {:.2f} %, so {} pairs for {} knobs could find gains of {:.1f} % and more only; expected at most {:g} %: "
                  "a larger budget, fewer knobs, a quieter machine, or --resolution for whom large gains are enough",
                  100 * result_.null.sd, budget, knobs, 100 * *result_.smallest_gain, 100 * options_.coarsest_resolution));
}

Status Search::try_knob(const Knob& knob) {
  std::vector<Move> moves;
  for (const KnobValue& value : values_to_try(catalogue_, knob, base_, incumbent_, options_)) {
    std::optional<Move> move = move_to(knob, value, kLadder);
    if (!move) continue;
    if (meter_.left() == 0) {
      add(verdict_of(*move, kLadder, MoveState::kInconclusive, kUsedUp));
      continue;
    }
    TEAPOT_TRY(const bool good, starts_well(*move, kLadder));
    if (good) moves.push_back(*std::move(move));
  }
  if (moves.size() > kMostRacedValues && meter_.left() > 0) return race_best_of(knob, moves);
  for (const Move& planned : moves) {
    TEAPOT_TRY(std::ignore, race_value(knob, planned.value));
  }
  return {};
}

// A tournament's best races; where a guard refuses it or it breaks, the next best does.
Status Search::race_best_of(const Knob& knob, const std::vector<Move>& moves) {
  std::vector<Entrant> entrants;
  entrants.reserve(moves.size());
  for (const Move& move : moves) entrants.push_back({move.name(), move.target});
  TEAPOT_TRY(const Tournament tournament, hold_tournament(meter_, options_.objective, incumbent_, std::move(entrants)));
  for (size_t i = 0; i < moves.size(); ++i) {
    const Entrant& entrant = tournament.entrants[i];
    if (entrant.fault == TrialFault::kNone) continue;
    starts_.set_failed(moves[i].target, entrant.fault, entrant.what);
    add(verdict_of(moves[i], kLadder, broken_state(entrant.fault), entrant.what));
  }
  bool settled = false;
  size_t raced = 0;
  for (const size_t i : tournament.ranking) {
    const Entrant& entrant = tournament.entrants[i];
    if (!settled && raced < kMostRacedValues && (raced == 0 || entrant.mean() < kScreenAbove)) {
      TEAPOT_TRY(const MoveState state, race_value(knob, moves[i].value));
      settled = state != MoveState::kRefused && !is_broken(state);
      ++raced;
      continue;
    }
    MoveVerdict verdict = verdict_of(moves[i], kLadder, MoveState::kScreened, "another value of it looked better");
    verdict.effect.pairs = entrant.pairs;
    verdict.effect.mean = entrant.mean();
    verdict.effect.half_width = std::numeric_limits<double>::infinity();
    add(std::move(verdict));
  }
  return {};
}

Result<MoveState> Search::race_value(const Knob& knob, const KnobValue& value) {
  // The incumbent may have changed by another value of this knob.
  const std::optional<Move> move = move_to(knob, value, kLadder);
  if (!move) return MoveState::kRefused;
  if (meter_.left() == 0) {
    add(verdict_of(*move, kLadder, MoveState::kInconclusive, kUsedUp));
    return MoveState::kInconclusive;
  }
  TEAPOT_TRY(const bool good, starts_well(*move, kLadder));
  if (!good) return result_.verdicts.back().state;
  TEAPOT_TRY(MoveVerdict verdict, race(*move, kLadder));
  const MoveState state = verdict.state;
  take(*move, std::move(verdict));
  return state;
}

Status Search::ladder() {
  for (const Knob* knob : ladder_) {
    TEAPOT_CHECK(try_knob(*knob));
  }
  return {};
}

double Effect::percent() const { return change_percent(mean); }
double Effect::low_percent() const { return change_percent(mean - half_width); }
double Effect::high_percent() const { return change_percent(mean + half_width); }

const Confirmation* SearchResult::confirmed() const {
  const Confirmation* best = nullptr;
  if (end != SearchEnd::kDone) return best;
  for (const Confirmation& each : confirmations) {
    if (each.confirmed() && (best == nullptr || each.moves > best->moves)) best = &each;
  }
  return best;
}

std::string name_of(const std::string& knob, const KnobValue& value, const std::vector<Assignment>& with) {
  std::string text = fmt::format("{} = {}", knob, value.value_or("nothing"));
  for (size_t i = 0; i < with.size(); ++i) {
    text += fmt::format("{}{} = {}", i == 0 ? ", with " : " and ", with[i].knob, with[i].value.value_or("nothing"));
  }
  return text;
}

Status check(const Catalogue& catalogue, const SearchOptions& options) {
  constexpr uint32_t kFewest = kNullPairs + kConfirmPairs + 8;
  if (options.parallel.empty()) return fail(ErrorKind::kInvalid, "--parallel: found no number of users");
  for (const uint32_t users : options.parallel) {
    if (std::ranges::count(options.parallel, users) > 1) return fail(ErrorKind::kInvalid, "--parallel: {} stands there twice", users);
  }
  if ((options.budget.pairs > 0) == (options.budget.seconds > 0)) {
    return fail(ErrorKind::kInvalid, "--budget: expected pairs or a time, like 200pairs or 6h");
  }
  if (options.budget.pairs > 0 && options.budget.pairs < kFewest) {
    return fail(ErrorKind::kInvalid, "--budget: {} pairs; A against A, one race and the confirmation take at least {}",
                options.budget.pairs, kFewest);
  }
  TEAPOT_TRY(const std::vector<const Knob*> ladder, ladder_of(catalogue, options));
  if (moves_of(catalogue, options, ladder, canonical(catalogue, options.base)) > 0) return {};
  return fail(ErrorKind::kInvalid, "nothing to try: no knob has a value that differs from the base and may be set");
}

Result<SearchResult> search(const Catalogue& catalogue, const SearchOptions& options, Trials& trials, const SearchEvents& events) {
  return Search(catalogue, options, trials, events).run();
}

}  // namespace teapot::workbench
