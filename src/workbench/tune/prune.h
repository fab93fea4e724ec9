// What is no longer needed: each adopted move once more, without against with it, the smallest gain first.
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

// Spends what the budget has left. A move that does harm beside the others goes out of the incumbent; one that is no longer noticed goes
// out of result.simplest only.
Status prune(const Catalogue& catalogue, const SearchOptions& options, Starts& starts, PairMeter& meter, double min_difference,
             const std::vector<Adopted>& adopted, KnobProfile& incumbent, SearchResult& result);

}  // namespace teapot::workbench
