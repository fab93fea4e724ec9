// A sequential race between two settings: pairs are added one by one until one of them has won, the difference is known to be too small to
// matter, or the pairs are used up.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "workbench/pairs/e_process.h"

namespace teapot::workbench {

enum class RaceState : uint8_t {
  kRunning,
  kWin,           // the mean difference is below 0: B takes less time
  kLose,          // it is above 0
  kNull,          // a difference that would matter is excluded (RaceRules::null_rule)
  kScreened,      // the first pairs didn't look like a gain
  kInconclusive,  // the cap was reached
};
inline constexpr std::array<std::string_view, 6> kRaceStateNames = {"running", "win", "lose", "null", "screened", "inconclusive"};

enum class NullRule : uint8_t {
  kNoGain,      // one-sided: mean - h > -min_difference, so B can't be that much faster; what a search for gains needs
  kEquivalent,  // two-sided: the whole sequence lies within +- min_difference
  kNever,       // only win, lose or the cap end the race
};

struct RaceRules {
  double e_threshold = 20;       // 1/alpha; of M races in one session M/alpha (Bonferroni)
  double min_difference = 0.01;  // in d: logarithm of a ratio
  NullRule null_rule = NullRule::kNoGain;
  double null_alpha = 0.10;      // of the sequence that null_rule looks at
  uint32_t screen_after = 0;     // pairs after which a mean above screen_above ends the race; 0: no screen
  double screen_above = -0.003;  // in d
  uint32_t cap = 64;             // pairs
};

class Race {
 public:
  explicit Race(const RaceRules& rules) : rules_(rules) {}

  // d = ln(B / A) of the next pair. Rules are asked in the order: E, screen, null, cap. Once the race has ended, nothing changes any more.
  RaceState add(double difference);

  RaceState state() const { return state_; }
  const EProcess& process() const { return process_; }

 private:
  RaceState decide() const;

  RaceRules rules_;
  EProcess process_;
  RaceState state_ = RaceState::kRunning;
};

}  // namespace teapot::workbench
