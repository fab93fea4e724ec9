// The processors that this process may use, as hwloc sees them: physical cores of the allowed cpuset and their NUMA nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace teapot {

struct Core {
  std::vector<unsigned> cpus;  // the system's numbers of its allowed hardware threads; the first is the one to use
  unsigned numa_node;
};

struct Topology {
  std::vector<Core> cores;  // in the order of their position in the machine, at least one
  unsigned numa_nodes;      // that the cores belong to
  uint64_t l3_bytes = 0;    // of all L3 caches that the cores reach; 0: not known

  size_t cpus() const;
  // The cpus for so many threads: one a physical core, then the cores' siblings. threads must be at most cpus().
  std::vector<unsigned> place(size_t threads) const;
  // "8 cores (16 hardware threads), 2 NUMA nodes"
  std::string describe() const;
};

// Cores outside the process' affinity (taskset, cpuset control groups) are left out.
Result<Topology> read_topology();

// "0-3,8": runs of consecutive numbers.
std::string cpu_ranges(const std::vector<unsigned>& cpus);

}  // namespace teapot
