// What a profile comes to on this machine: profiles of one meaning start the server in the same way.
#pragma once

#include "workbench/tune/step_values.h"

namespace teapot::workbench {

// Values worked out and each in one form (01 is 1 where a number is asked for), defaults left out. What this machine does not have stays as
// it is written.
KnobProfile meaning_of(const Catalogue& catalogue, const KnobProfile& profile, const HostValues& host,
                       const std::vector<uint32_t>& parallel);

}  // namespace teapot::workbench
