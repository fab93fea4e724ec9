// How many processors' worth of time this process may take, where a control group limits it.
#pragma once

#include <optional>
#include <string>

namespace teapot {

struct CpuQuota {
  double cpus;             // 1.5: one and a half processors
  std::string limited_by;  // the control group file
};

// The tightest quota of the process' control groups and their ancestors, both versions; nothing where there is none. root stands in front
// of /proc and /sys.
std::optional<CpuQuota> read_cpu_quota(const std::string& root = "");

}  // namespace teapot
