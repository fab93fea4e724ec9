// The one order of candidates, for whoever picks the best of a row: falling logits, rising ids among equals.
#pragma once

#include "plan/backend.h"

namespace teapot::plan {

inline bool before(const Candidate& a, const Candidate& b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

}  // namespace teapot::plan
