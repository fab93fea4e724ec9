#include "workbench/ladder/ladder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "workbench/bench/host_facts.h"
#include "workbench/pairs/pair_order.h"

namespace teapot::workbench {
namespace {

constexpr double kFigureAlpha = 0.05;  // of intervals in figures, and of all off against itself

std::string& value_of(LeverSetting& setting, const std::string& lever) {
  return std::ranges::find(setting, lever, &std::pair<std::string, std::string>::first)->second;
}

LeverSetting all_off(const LadderOrder& order) {
  LeverSetting setting;
  for (const LadderRung& rung : order.rungs) {
    if (std::ranges::find(setting, rung.lever, &std::pair<std::string, std::string>::first) != setting.end()) continue;
    setting.emplace_back(rung.lever, rung.off);
  }
  return setting;
}

size_t levers(const LadderOrder& order) { return all_off(order).size(); }

uint64_t seed_of(uint64_t seed, const std::string& race) {
  for (const char byte : race) seed = (seed ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return seed;
}

class Climber {
 public:
  Climber(const LadderOrder& order, const LadderOptions& options, LadderBench& bench, const LadderHooks& hooks, LadderRecords& records)
      : options_(options), bench_(bench), hooks_(hooks), records_(records), off_(all_off(order)), on_(off_) {
    ladder_.order = order;
    ladder_.options = options;
  }

  Result<Ladder> run() {
    for (Status (Climber::*part)() : {&Climber::measure_noise, &Climber::climb, &Climber::drop, &Climber::measure_whole}) {
      TEAPOT_CHECK((this->*part)());
      if (ladder_.end != LadderEnd::kRunning) return std::move(ladder_);
    }
    ladder_.end = LadderEnd::kDone;
    return std::move(ladder_);
  }

 private:
  bool stopped() const { return hooks_.stop != nullptr && *hooks_.stop; }

  Status measure_noise() {
    if (options_.aa_pairs == 0) return {};
    RaceRules rules{.e_threshold = 1 / kFigureAlpha, .null_rule = NullRule::kNever, .cap = options_.aa_pairs};
    // What isn't exact need not even equal itself: rounded states depend on how a prompt was cut into steps.
    LeverSetting setting = off_;
    for (const LadderRung& rung : ladder_.order.rungs) {
      if (!rung.exact) value_of(setting, rung.lever) = rung.on;
    }
    TEAPOT_TRY(const LadderStep* step,
               race({.kind = LadderKind::kNull, .name = "all off, twice", .a = setting, .b = setting}, rules, false));
    if (step->verdict == LadderVerdict::kBroken) {
      return fail(ErrorKind::kInternal, "the same settings give {}: no lever can be judged by its tokens", step->reason);
    }
    const PairedFigures& pairs = step->mean.log_ratio;
    if (pairs.pairs >= 2) ladder_.smallest_difference = std::expm1(smallest_difference(pairs.sd, options_.pairs));
    const bool differs = step->verdict == LadderVerdict::kWin || step->verdict == LadderVerdict::kLose;
    if (differs) ladder_.end = LadderEnd::kNullDiffers;
    return {};
  }

  Status climb() {
    const std::vector<LadderRung>& rungs = ladder_.order.rungs;
    for (size_t i = 0; i < rungs.size() && ladder_.end == LadderEnd::kRunning; ++i) {
      const LadderRung& rung = rungs[i];
      if (rung.group == RungGroup::kMtp && decode_on_.empty()) decode_on_ = on_;
      LadderRace next{.kind = LadderKind::kClimb,
                      .name = fmt::format("rung {}", i + 1),
                      .lever = rung.lever,
                      .from = value_of(on_, rung.lever),
                      .to = rung.on,
                      .reload = rung.reload,
                      .exact = rung.exact,
                      .group = rung.group,
                      .place = place(rung),
                      .a = on_,
                      .b = on_};
      // After a refusal the lever may stand lower than the rung expects, at an engine without drafts for example.
      if (next.from != rung.off) next.reload = true;
      value_of(next.b, rung.lever) = rung.on;
      TEAPOT_TRY(const LadderStep* step, race(std::move(next), rules(), false));
      if (step->verdict == LadderVerdict::kRefused) continue;
      value_of(on_, rung.lever) = rung.on;
      if (!rung.exact) inexact_.insert(rung.lever);
      if (rung.group == RungGroup::kMtp) any_mtp_ = true;
    }
    if (decode_on_.empty()) decode_on_ = on_;
    return {};
  }

  // Of levers that are on. Those of the decode group without the mtp group, as they were climbed.
  Status drop() {
    if (!options_.drops) return {};
    std::set<std::string> seen;
    for (const LadderRung& rung : ladder_.order.rungs) {
      if (ladder_.end != LadderEnd::kRunning) return {};
      LeverSetting on = rung.group == RungGroup::kMtp ? on_ : decode_on_;
      if (!seen.insert(rung.lever).second || value_of(on, rung.lever) == rung.off) continue;
      LadderRace next{.kind = LadderKind::kDrop,
                      .name = "off: " + rung.lever,
                      .lever = rung.lever,
                      .from = rung.off,
                      .to = value_of(on, rung.lever),
                      .exact = !inexact_.contains(rung.lever),
                      .group = rung.group,
                      .place = place(rung),
                      .a = on,
                      .b = on};
      value_of(next.a, rung.lever) = rung.off;
      TEAPOT_CHECK(race(std::move(next), rules(), false));
    }
    return {};
  }

  Status measure_whole() {
    RaceRules fixed{.cap = options_.pairs};
    LadderRace whole{.kind = LadderKind::kWhole, .name = "all", .exact = inexact_.empty(), .a = off_, .b = decode_on_};
    if (off_ != decode_on_) TEAPOT_CHECK(race(whole, fixed, true));
    if (!any_mtp_ || ladder_.end != LadderEnd::kRunning) return {};
    whole.name = "all, with drafts";
    whole.group = RungGroup::kMtp;
    whole.b = on_;
    TEAPOT_CHECK(race(std::move(whole), fixed, true));
    return {};
  }

  std::string place(const LadderRung& rung) const { return fmt::format("{}:{}", ladder_.order.source, rung.line); }

  RaceRules rules() const {
    return {.e_threshold = e_threshold(options_, ladder_.order),
            .min_difference = std::log1p(options_.min_difference),
            .null_rule = NullRule::kEquivalent,
            .cap = options_.pairs};
  }

  // The step stands in ladder_.steps until the next one comes.
  Result<const LadderStep*> race(LadderRace race, const RaceRules& rules, bool fixed) {
    RaceRecord& record = records_[race.name];
    const uint64_t seed = seed_of(options_.seed, race.name);
    for (bool begun = false;;) {
      LadderStep step = judge(race, record, rules, fixed, kFigureAlpha);
      hooks_.progress(ladder_, step);
      if (step.verdict != LadderVerdict::kRunning) {
        const LadderStep* done = &ladder_.steps.emplace_back(std::move(step));
        TEAPOT_CHECK(hooks_.step(ladder_));
        return done;
      }
      if (!begun && !stopped()) {
        TEAPOT_TRY(RaceStart start, bench_.begin(race));
        record.refused = std::move(start.refused);
        record.active = std::move(start.active);
        TEAPOT_CHECK(hooks_.keep(start_line(race.name, record)));
        begun = true;
        continue;
      }
      LadderPair pair;
      if (!stopped()) {
        TEAPOT_TRY(pair, measure(static_cast<uint32_t>(record.pairs.size()), seed));
      }
      if (stopped()) {
        ladder_.end = LadderEnd::kInterrupted;
        return &ladder_.steps.emplace_back(std::move(step));
      }
      TEAPOT_CHECK(hooks_.keep(pair_line(race.name, pair)));
      record.pairs.push_back(std::move(pair));
    }
  }

  Result<LadderPair> measure(uint32_t number, uint64_t seed) {
    LadderPair pair{.number = number, .b_first = b_goes_first(seed, number)};
    for (const bool b : {pair.b_first, !pair.b_first}) {
      if (stopped()) return pair;
      TEAPOT_TRY((b ? pair.b : pair.a), bench_.run(b));
    }
    pair.at = utc_now();
    return pair;
  }

  const LadderOptions& options_;
  LadderBench& bench_;
  const LadderHooks& hooks_;
  LadderRecords& records_;
  Ladder ladder_;
  const LeverSetting off_;
  LeverSetting on_;         // after the rungs so far
  LeverSetting decode_on_;  // the same, of the decode group alone; empty: not yet climbed
  std::set<std::string> inexact_;
  bool any_mtp_ = false;
};

}  // namespace

bool Ladder::sound() const {
  return end == LadderEnd::kDone && std::ranges::find(steps, LadderVerdict::kBroken, &LadderStep::verdict) == steps.end();
}

double e_threshold(const LadderOptions& options, const LadderOrder& order) {
  const size_t races = order.rungs.size() + (options.drops ? levers(order) : 0);
  return (options.all_races ? static_cast<double>(races) : 1) / options.alpha;
}

Status check(const LadderOptions& options, const LadderOrder& order) {
  if (options.concurrency.empty() || std::ranges::count(options.concurrency, 0u) > 0) {
    return fail(ErrorKind::kInvalid, "-c: {}; expected numbers of sequences from 1", fmt::join(options.concurrency, ","));
  }
  if (!(options.alpha > 0 && options.alpha < 1)) {
    return fail(ErrorKind::kInvalid, "--alpha: {}; expected a chance between 0 and 1", options.alpha);
  }
  if (!(options.min_difference > 0 && options.min_difference < 1)) {
    return fail(ErrorKind::kInvalid, "--min-difference: {}; expected a share between 0 and 1", options.min_difference);
  }
  // E of n pairs is at most (n + 1)^((n - 1) / 2).
  uint32_t least = 2;
  while (std::pow(least + 1, (least - 1) / 2.0) < e_threshold(options, order)) ++least;
  if (options.pairs >= least) return {};
  return fail(ErrorKind::kInvalid, "--pairs: {}; expected at least {}: with fewer no race could be decided", options.pairs, least);
}

Result<Ladder> run_ladder(const LadderOrder& order, const LadderOptions& options, LadderBench& bench, const LadderHooks& hooks,
                          LadderRecords& records) {
  TEAPOT_CHECK(check(options, order));
  return Climber(order, options, bench, hooks, records).run();
}

}  // namespace teapot::workbench
