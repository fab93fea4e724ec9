// What a search tries, in which order, and what it refuses without a start.
#pragma once

#include "workbench/tune/search.h"

namespace teapot::workbench {

// By rank, then by the gain that is expected, which counts half where no source confirmed the knob. Rank 5 only where it is named.
// kInvalid: a name that is no knob's.
Result<std::vector<const Knob*>> ladder_of(const Catalogue& catalogue, const SearchOptions& options);

// Values that mean something else than the incumbent's, one of each meaning. The base's own is left out where the search has moved away
// from it: whether that can be undone is asked at the end.
std::vector<KnobValue> values_to_try(const Catalogue& catalogue, const Knob& knob, const KnobProfile& base, const KnobProfile& incumbent,
                                     const SearchOptions& options);

// Why the knob's value is not even started; empty: it may be.
std::string refusal_of(const Knob& knob, const KnobValue& value, const SearchOptions& options);

// Of the knobs whose values differ, the riskiest.
TextRisk text_risk(const Catalogue& catalogue, const std::vector<Assignment>& changes);
// Greedy replies may be others: their risk says so, and the options allow it.
bool text_may_change(const Catalogue& catalogue, const std::vector<Assignment>& changes, const SearchOptions& options);

// They share what they work on, or one of them needs the other.
bool related(const Knob& one, const Knob& other);

// Its neighbours among the knob's values, by size; the knob is one of at least four numbers, else there are none.
std::vector<KnobValue> neighbours(const Knob& knob, const KnobValue& value);

}  // namespace teapot::workbench
