#include "workbench/pairs/race.h"

#include <cmath>

namespace teapot::workbench {

RaceState Race::add(double difference) {
  if (state_ != RaceState::kRunning) return state_;
  process_.add(difference);
  state_ = decide();
  return state_;
}

RaceState Race::decide() const {
  const double mean = process_.mean();
  if (process_.ln_e() >= std::log(rules_.e_threshold)) return mean < 0 ? RaceState::kWin : RaceState::kLose;
  if (rules_.screen_after != 0 && process_.pairs() == rules_.screen_after && mean > rules_.screen_above) return RaceState::kScreened;
  if (rules_.null_rule != NullRule::kNever) {
    const double half = process_.half_width(rules_.null_alpha);
    const bool no_gain = mean - half > -rules_.min_difference, no_loss = mean + half < rules_.min_difference;
    if (no_gain && (no_loss || rules_.null_rule == NullRule::kNoGain)) return RaceState::kNull;
  }
  return process_.pairs() >= rules_.cap ? RaceState::kInconclusive : RaceState::kRunning;
}

}  // namespace teapot::workbench
