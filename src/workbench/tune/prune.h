// What is no longer needed: one adopted move after the other, the smallest gain first, is taken out of the simplest profile so far, and
// what is left runs against the winner. So the simplest profile itself has been measured, at the price of a race a move.
#pragma once

#include "workbench/tune/pair_meter.h"
#include "workbench/tune/starts.h"

namespace teapot::workbench {

// A move that won, in the order of adoption.
struct Adopted {
  std::string knob;
  KnobValue value;
  std::vector<Assignment> with;
  KnobProfile before, after;  // incumbents
  Effect effect = {};         // of its race
};

// Spends what the budget has left. result.simplest must be the incumbent. What beats the incumbent takes its place; what can't be told from
// it is the simplest from then on.
Status prune(const Catalogue& catalogue, const SearchOptions& options, Starts& starts, PairMeter& meter, double min_difference,
             const std::vector<Adopted>& adopted, KnobProfile& incumbent, SearchResult& result);

}  // namespace teapot::workbench
