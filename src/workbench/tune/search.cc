#include "workbench/tune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "workbench/pairs/race.h"
#include "workbench/tune/confirm.h"
#include "workbench/tune/moves.h"
#include "workbench/tune/pair_meter.h"
#include "workbench/tune/prune.h"
#include "workbench/tune/starts.h"
#include "workbench/tune/tournament.h"
#include "workbench/tune/walk.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kLadder = "ladder", kNeighbour = "neighbour", kSecondPass = "second pass", kSettled = "settled";

constexpr double kAlpha = 0.10;          // chance that a session adopts anything that is no gain
constexpr uint32_t kScreenAfter = 3;     // pairs
constexpr double kScreenAbove = -0.003;  // in d; smaller gains are not looked for, either
constexpr uint32_t kCap = 24;            // pairs of a race
constexpr uint32_t kNeighbourCap = 16, kSettledCap = 48;
constexpr double kLoadHarm = 0.01;         // of one number of users, as a share
constexpr double kNeighbourAbove = 0.005;  // in d: values beside an adopted one aren't left alone as soon
constexpr size_t kMostRacedValues = 3;     // of one knob; of more, a tournament chooses one

// Values that may be tried, of all knobs.
size_t moves_of(const Catalogue& catalogue, const SearchOptions& options, const std::vector<const Knob*>& ladder, const KnobProfile& base) {
  size_t moves = 0;
  for (const Knob* knob : ladder) {
    for (const KnobValue& value : values_to_try(catalogue, *knob, base, base)) {
      if (refusal_of(*knob, value, options).empty()) ++moves;
    }
  }
  return moves;
}

// A knob's value, with all that it takes to get there from the incumbent.
struct Move {
  const Knob* knob = nullptr;
  KnobValue value;
  KnobProfile target;
  std::vector<Assignment> with;

  std::string name() const { return name_of(knob->name, value, with); }
};

class Search {
 public:
  Search(const Catalogue& catalogue, const SearchOptions& options, Trials& trials, const SearchEvents& events)
      : catalogue_(catalogue),
        options_(options),
        events_(events),
        trials_(trials),
        starts_(trials),
        meter_(options, trials, events, result_) {}

  Result<SearchResult> run() {
    Status status = climb();
    result_.winner = incumbent_;
    if (result_.end == SearchEnd::kDone) result_.winner = result_.confirmed() != nullptr ? result_.confirmed()->profile : base_;
    if (result_.end != SearchEnd::kDone || result_.winner != incumbent_) result_.simplest = result_.winner;
    result_.elapsed_s = trials_.elapsed_s();
    if (!status && !meter_.ended()) {
      if (!trials_.over()) return std::unexpected(std::move(status).error());
      result_.end = SearchEnd::kInterrupted;
      result_.end_reason = status.error().message;
    }
    return std::move(result_);
  }

 private:
  void note(const std::string& text) const {
    if (events_.note) events_.note(text);
  }

  Status climb();
  Status begin();
  Status look_at_base();
  Status ladder();
  Status try_knob(const Knob& knob);
  Status second_pass();
  Status try_neighbours();
  Status settle();

  std::optional<Move> move_to(const Knob& knob, const KnobValue& value, std::string_view phase);
  // Whether a start shows nothing against the move. Its verdict is in the result otherwise.
  Result<bool> starts_well(const Move& move, std::string_view phase);
  RaceRules rules(std::string_view phase) const;
  Result<MoveVerdict> race(const Move& move, std::string_view phase);
  // The adopted move whose value this one would replace; null: none.
  const Adopted* replaced_by(const Move& move) const;
  bool clearly_slower(const Effect& effect) const;
  MoveState guarded(const Walk& walk, const Move& move, bool more, std::string& reason) const;
  void take(const Move& move, MoveVerdict verdict);
  MoveVerdict verdict_of(const Move& move, std::string_view phase, MoveState state, std::string reason = "") const;
  void add(MoveVerdict verdict);

  const Catalogue& catalogue_;
  const SearchOptions& options_;
  const SearchEvents& events_;
  Trials& trials_;
  SearchResult result_;
  Starts starts_;
  PairMeter meter_;
  std::vector<const Knob*> ladder_;
  KnobProfile base_, incumbent_;
  std::vector<Adopted> adopted_;
  std::set<std::pair<KnobProfile, KnobProfile>> raced_;
  double min_difference_ = 0;
};

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
  TEAPOT_CHECK(confirm(meter_, adopted_, base_, incumbent_, result_));
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

Status Search::look_at_base() {
  meter_.set_incumbent(base_, 0);
  meter_.show("the base's start");
  TEAPOT_TRY(const Validation first, trials_.validate(base_));
  if (first.fault != TrialFault::kNone) {
    return fail(ErrorKind::kInvalid, "the base can't be measured ({}): {}", kTrialFaultNames[static_cast<size_t>(first.fault)], first.what);
  }
  meter_.show("the base's start, once more");
  TEAPOT_TRY(const Validation* second, starts_.look_at(base_));
  if (second->fault != TrialFault::kNone) {
    return fail(ErrorKind::kInvalid, "the base can't be measured ({}): {}", kTrialFaultNames[static_cast<size_t>(second->fault)],
                second->what);
  }
  result_.version = second->version;
  result_.start_s = second->start_s;
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
  result_.smallest_gain = result_.null.sd * std::sqrt(12.0 * static_cast<double>(knobs) / std::max(1u, budget));
  min_difference_ = std::max(-kScreenAbove, *result_.smallest_gain);
  note(fmt::format("a pair's sd is {:.2f} %: {} pairs for {} knobs find, or exclude, gains of about {:.2f} %", 100 * result_.null.sd,
                   budget, knobs, 100 * *result_.smallest_gain));
  if (*result_.smallest_gain <= options_.largest_hopeless_gain) return {};
  return meter_.end(
      SearchEnd::kHopeless,
      fmt::format("a pair's sd is {:.2f} %, so {} pairs for {} knobs could find gains of {:.1f} % and more only; expected at most {:g} %: "
                  "a larger budget, fewer knobs, or a quieter machine",
                  100 * result_.null.sd, budget, knobs, 100 * *result_.smallest_gain, 100 * options_.largest_hopeless_gain));
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
    const TextRisk risk = text_risk(catalogue_, difference(catalogue_, incumbent_, move.target));
    const bool may_change = risk != TextRisk::kSame && risk <= options_.allow_text;
    const std::string changed = result_.text_gate ? text_difference(incumbent->replies, found->replies) : "";
    if (!changed.empty() && !may_change) {
      verdict.state = MoveState::kBrokenText;
      verdict.reason = changed + (risk == TextRisk::kSame ? "" : " (--allow-text may lets it)");
    } else if (verdict.evidence && verdict.evidence->seen == Seen::kNo) {
      verdict.state = MoveState::kInert;
      verdict.reason = verdict.evidence->what;
    } else if (!changed.empty()) {
      result_.warnings.push_back(fmt::format("{} changes the text, as it was allowed to: {}", move.name(), changed));
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
  if (loads == Truth::kUnknown || ttft == Truth::kUnknown) {
    if (more) return MoveState::kInconclusive;
    reason = loads == Truth::kUnknown
                 ? fmt::format("a gain, but a harm of more than {:g} % with {} users is not excluded", 100 * kLoadHarm,
                               options_.parallel[walk.slowest_load()])
                 : fmt::format("a gain, but a harm to TTFT of more than {:g} % is not excluded", 100 * options_.max_ttft_harm);
    return MoveState::kRefused;
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
  for (;;) {
    if (meter_.left() == 0) {
      verdict.reason = "the budget is used up";
      break;
    }
    TEAPOT_TRY(const PairOutcome outcome, meter_.measure(series));
    if (outcome.b.fault != TrialFault::kNone) {
      verdict.state = broken_state(outcome.b.fault);
      verdict.reason = outcome.b.what;
      starts_.set_failed(move.target, outcome.b.fault, outcome.b.what);
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

Status Search::try_knob(const Knob& knob) {
  std::vector<Move> moves;
  for (const KnobValue& value : values_to_try(catalogue_, knob, base_, incumbent_)) {
    std::optional<Move> move = move_to(knob, value, kLadder);
    if (!move) continue;
    TEAPOT_TRY(const bool good, starts_well(*move, kLadder));
    if (good) moves.push_back(*std::move(move));
  }
  if (moves.size() > kMostRacedValues && meter_.left() > 0) {
    std::vector<Entrant> entrants;
    for (const Move& move : moves) entrants.push_back({move.name(), move.target});
    TEAPOT_TRY(const Tournament tournament, hold_tournament(meter_, options_.objective, incumbent_, std::move(entrants)));
    std::vector<Move> chosen;
    for (size_t i = 0; i < moves.size(); ++i) {
      const Entrant& entrant = tournament.entrants[i];
      if (i == tournament.best) {
        chosen.push_back(moves[i]);
      } else if (entrant.fault != TrialFault::kNone) {
        starts_.set_failed(moves[i].target, entrant.fault, entrant.what);
        add(verdict_of(moves[i], kLadder, broken_state(entrant.fault), entrant.what));
      } else {
        MoveVerdict verdict = verdict_of(moves[i], kLadder, MoveState::kScreened, "another value of it looked better");
        verdict.effect.pairs = entrant.pairs;
        verdict.effect.mean = entrant.mean();
        verdict.effect.half_width = std::numeric_limits<double>::infinity();
        add(std::move(verdict));
      }
    }
    moves = std::move(chosen);
  }
  for (const Move& planned : moves) {
    if (meter_.left() == 0) {
      add(verdict_of(planned, kLadder, MoveState::kInconclusive, "the budget is used up"));
      continue;
    }
    // The incumbent may have changed by another value of this knob.
    std::optional<Move> move = move_to(knob, planned.value, kLadder);
    if (!move) continue;
    TEAPOT_TRY(const bool good, starts_well(*move, kLadder));
    if (!good) continue;
    TEAPOT_TRY(MoveVerdict verdict, race(*move, kLadder));
    take(*move, std::move(verdict));
  }
  return {};
}

Status Search::ladder() {
  for (const Knob* knob : ladder_) {
    TEAPOT_CHECK(try_knob(*knob));
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
  std::ranges::stable_sort(again, {}, [](const auto& move) { return move.first->gain ? move.first->gain->first : 0; });
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

// A tournament chooses by few pairs, and before other knobs had their say: the values next to the one that it chose are raced, too.
Status Search::try_neighbours() {
  for (size_t i = 0; i < adopted_.size(); ++i) {  // grows while moves win: on in the same direction
    const Knob& knob = *catalogue_.find(adopted_[i].knob);
    for (const KnobValue& value : neighbours(knob, value_in(catalogue_, incumbent_, knob.name))) {
      if (meter_.left() == 0) return {};
      const auto target = closure(catalogue_, incumbent_, {knob.name, value});
      const bool undone = value == value_in(catalogue_, base_, knob.name);
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

}  // namespace

double Effect::percent() const { return 100 * std::expm1(mean); }
double Effect::low_percent() const { return 100 * std::expm1(mean - half_width); }
double Effect::high_percent() const { return 100 * std::expm1(mean + half_width); }

const Confirmation* SearchResult::confirmed() const {
  const Confirmation* best = nullptr;
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
