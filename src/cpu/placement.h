// Where the workers of a team run.
#pragma once

#include <string>
#include <vector>

#include "base/topology.h"
#include "cpu/thread_team.h"

namespace teapot::cpu {

enum class Bind : uint8_t { kOff, kCore, kNuma };

struct Placement {
  std::vector<CpuList> cpus;  // [workers] where each may run; empty: anywhere
  std::string text;           // "cpus 0,1": for people
  size_t distinct_cpus;       // that the workers share
};

// kCore: one processor each, physical cores first. kNuma: all processors of a memory node each, the nodes filled in the order of their
// cores. kUnsupported with more workers than processors, unless they are not bound.
Result<Placement> place(const Topology& topology, size_t workers, Bind bind);

}  // namespace teapot::cpu
