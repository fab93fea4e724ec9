// Which of many values of one knob enters the race: the better half of them, twice the pairs, and so on until one is left. Its scores
// decide nothing else: the race has pairs of its own, or the choice would leak into the test.
#pragma once

#include <string>
#include <vector>

#include "workbench/tune/pair_meter.h"

namespace teapot::workbench {

struct Entrant {
  std::string name;
  KnobProfile target;
  double sum = 0;  // of d against the incumbent
  uint32_t pairs = 0;
  TrialFault fault = TrialFault::kNone;
  std::string what = {};  // of the fault

  double mean() const { return pairs == 0 ? 0 : sum / pairs; }
};

struct Tournament {
  std::vector<Entrant> entrants;  // in the order in which they came
  std::vector<size_t> ranking;    // those that did not fail, the best first
};

Result<Tournament> hold_tournament(PairMeter& meter, Objective objective, const KnobProfile& incumbent, std::vector<Entrant> entrants);

}  // namespace teapot::workbench
