// Whether the host under a long comparison stays the same: its memory read bandwidth, measured now and then.
#pragma once

#include "base/error.h"

namespace teapot::workbench {

// GB/s of all physical cores that the process may use, the best of some passes over 256 MiB or twice the L3 cache. Takes about a second and
// keeps no memory, so that it can be asked between two measurements. kMemory: not so much is free.
Result<double> probe_read_gbs();

}  // namespace teapot::workbench
