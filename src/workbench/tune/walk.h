// The pairs of one race as they come: what they say of the objective, of each number of users, of TTFT and of acceptance.
#pragma once

#include <cstdint>
#include <vector>

#include "workbench/pairs/e_process.h"
#include "workbench/tune/search.h"

namespace teapot::workbench {

inline constexpr double kSequenceAlpha = 0.10;  // of all limits that a search shows or looks at
inline constexpr double kLoadHarm = 0.01;       // the most that TPOT of one number of users may rise, as a share

class Walk {
 public:
  Walk(Objective objective, size_t loads) : objective_(objective), tpot_(loads) {}

  // Both arms are whole. Returns d = ln(B / A) of the objective.
  double add(const PairOutcome& outcome);

  uint32_t pairs() const { return total_.pairs(); }
  Effect effect() const;

  // Guards. kTrue: it holds; kFalse: the contrary is shown; kUnknown: more pairs would tell. before: what the move takes the place of, with
  // its own effects: the harm is reckoned from where that began. Null: nothing.
  Truth no_load_slower(double limit, const Effect* before) const;
  // kTrue also where the mean is half the limit or less: TTFT is read off few requests, and a limit on a harm is no claim of a gain.
  Truth ttft_not_slower(double limit, const Effect* before) const;
  // Drafts of B are accepted no less often, by more than chance would do; holds where nothing is drafted.
  bool acceptance_kept() const;
  // By their means, whatever their limits.
  bool no_load_looks_slower(const Effect* before) const;
  // The load that is slower, or may be: index of the largest upper limit.
  size_t slowest_load() const;

 private:
  struct Drafts {
    double drafted = 0, accepted = 0;
  };

  Objective objective_;
  EProcess total_, ttft_;
  std::vector<EProcess> tpot_;
  std::vector<double> differences_;
  Drafts a_, b_;
};

// Of whole arms: the mean over the loads of ln(b / a).
double log_ratio(const Arm& a, const Arm& b, double TurnFigures::* time);
// Geometric mean over the loads.
double mean_tpot_ms(const Arm& arm);

}  // namespace teapot::workbench
