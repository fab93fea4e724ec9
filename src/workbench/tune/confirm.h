// The only figure that is claimed: the base against the winner, a fixed number of pairs, prompts that no race has seen. What the races'
// guards let pass move by move must not have added up to a harm.
#pragma once

#include "workbench/tune/pair_meter.h"
#include "workbench/tune/prune.h"

namespace teapot::workbench {

// A gain that isn't confirmed, or comes with a harm, is looked for by bisection in the adopted moves, as far as the budget goes; each
// further attempt halves the chance of error that it may have.
Status confirm(const Catalogue& catalogue, const SearchOptions& options, PairMeter& meter, const std::vector<Adopted>& adopted,
               const KnobProfile& winner, SearchResult& result);

// "-5.41 % (-6.80 to -4.00)", of logarithms.
std::string change_text(const PairedFigures& figures);

}  // namespace teapot::workbench
