#include "workbench/ladder/race.h"

#include <algorithm>
#include <cmath>

namespace teapot::workbench {
namespace {

// ln of each pair's time at one load, or its mean over all of them.
std::vector<double> ln_times(const RaceRecord& record, std::vector<LadderTurn> LadderPair::* arm, std::optional<size_t> load) {
  std::vector<double> result;
  for (const LadderPair& pair : record.pairs) {
    const std::vector<LadderTurn>& turns = pair.*arm;
    double sum = 0;
    for (size_t i = load.value_or(0); i < (load ? *load + 1 : turns.size()); ++i) sum += std::log(turns[i].tpot_ms);
    result.push_back(load ? sum : sum / static_cast<double>(turns.size()));
  }
  return result;
}

RatioFigures figures(const RaceRecord& record, std::optional<size_t> load, double alpha) {
  return RatioFigures::of(ln_times(record, &LadderPair::a, load), ln_times(record, &LadderPair::b, load), alpha);
}

// Where the arms first gave other tokens; nothing: nowhere.
std::optional<std::string> other_tokens(const RaceRecord& record) {
  for (const LadderPair& pair : record.pairs) {
    for (size_t load = 0; load < pair.a.size(); ++load) {
      if (pair.a[load].hash == pair.b[load].hash) continue;
      return fmt::format("other tokens at c={} in pair {}: their hash is {:016x} before, {:016x} after", pair.a[load].c, pair.number + 1,
                         pair.a[load].hash, pair.b[load].hash);
    }
  }
  return std::nullopt;
}

LadderVerdict fixed_verdict(const PairedFigures& pairs, uint32_t cap) {
  if (pairs.pairs < cap) return LadderVerdict::kRunning;
  if (std::abs(pairs.mean) <= pairs.half_width) return LadderVerdict::kUndecided;
  return pairs.mean < 0 ? LadderVerdict::kWin : LadderVerdict::kLose;
}

LadderVerdict verdict_of(RaceState state) {
  switch (state) {
    case RaceState::kRunning:
      return LadderVerdict::kRunning;
    case RaceState::kWin:
      return LadderVerdict::kWin;
    case RaceState::kLose:
      return LadderVerdict::kLose;
    case RaceState::kNull:
      return LadderVerdict::kNull;
    default:
      return LadderVerdict::kUndecided;
  }
}

}  // namespace

LadderStep judge(LadderRace race, const RaceRecord& record, const RaceRules& rules, bool fixed, double alpha) {
  LadderStep step;
  step.race = std::move(race);
  step.active = record.active;
  if (record.refused) {
    step.verdict = LadderVerdict::kRefused;
    step.reason = *record.refused;
    return step;
  }
  if (record.pairs.empty()) return step;
  step.mean = figures(record, std::nullopt, alpha);
  for (size_t load = 0; load < record.pairs.front().a.size(); ++load) step.loads.push_back(figures(record, load, alpha));
  const auto other = other_tokens(record);
  step.equal_tokens = !other.has_value();
  if (other && step.race.exact) {
    step.verdict = LadderVerdict::kBroken;
    step.reason = *other;
    return step;
  }
  if (fixed) {
    step.verdict = fixed_verdict(step.mean.log_ratio, rules.cap);
    return step;
  }
  const std::vector<double> a = ln_times(record, &LadderPair::a, std::nullopt), b = ln_times(record, &LadderPair::b, std::nullopt);
  Race test(rules);
  for (size_t pair = 0; pair < a.size(); ++pair) test.add(b[pair] - a[pair]);
  step.verdict = verdict_of(test.state());
  return step;
}

}  // namespace teapot::workbench
