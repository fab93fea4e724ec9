// The host under a measurement, for its conditions.
#pragma once

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

// {"cpu", "topology", "cores", "hardware_threads", "cpu_quota" (if limited), "memory_bytes", "memory_available_bytes", "kernel",
// "load_average": [1, 5, 15 minutes]}
Result<Json> host_facts();

// "2026-01-31T12:00:00Z"
std::string utc_now();

}  // namespace teapot::workbench
