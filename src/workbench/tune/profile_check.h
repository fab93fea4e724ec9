// Whether what the knobs of a profile require and exclude is as they want it. Conditions that are text are left to the reader.
#pragma once

#include "base/error.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

// A knob whose conditions count: it is set, and to something.
bool counts(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob);

// The first of its requirements that doesn't hold. Null: none.
const Condition* unmet(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob);

// kUnsupported: "threads = 16 WHY". The knob is in the profile.
std::unexpected<Error> refuse(const Knob& knob, const KnobProfile& profile, const std::string& why);

// kUnsupported: a knob lacks what it requires, conflicts with another or goes where another goes; the message names it.
Status check_profile(const Catalogue& catalogue, const KnobProfile& profile);

}  // namespace teapot::workbench
