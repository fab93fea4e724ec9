// How much memory this process may still take: the host's, or less where a control group limits it.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace teapot {

struct MemoryStatus {
  uint64_t total_bytes;      // the host's, or the tightest control group limit below it
  uint64_t available_bytes;  // can be taken without swapping or being killed; page cache counts, the system drops it on demand
  std::string limited_by;    // "host", or the control group file whose limit counts
};

// root stands in front of /proc and /sys (tests read a made-up tree). Control groups of both versions, the process' own and its
// ancestors. kIo when /proc/meminfo cannot be read.
Result<MemoryStatus> read_memory(const std::string& root = "");

}  // namespace teapot
