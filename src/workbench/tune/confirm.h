// The only figure that is claimed: the base against the winner, a fixed number of pairs, prompts that no race has seen.
#pragma once

#include "workbench/tune/pair_meter.h"
#include "workbench/tune/prune.h"

namespace teapot::workbench {

// A gain that isn't confirmed is looked for by bisection in the adopted moves, as far as the budget goes; each further attempt halves the
// chance of error that it may have.
Status confirm(PairMeter& meter, const std::vector<Adopted>& adopted, const KnobProfile& base, const KnobProfile& winner,
               SearchResult& result);

}  // namespace teapot::workbench
