// On which memory nodes the system puts the pages that a thread touches first.
#pragma once

#include <memory>

#include "base/error.h"

struct hwloc_topology;

namespace teapot {

class MemoryPolicy {
 public:
  // kIo when the machine cannot be read.
  static Result<MemoryPolicy> create();

  // For the calling thread, from now on: page after page on the nodes in turn, so that all cores read them equally fast; or on the node
  // where the thread runs, as the system has it. kIo when the system refuses.
  Status interleave() const;
  Status local() const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const;
  };
  explicit MemoryPolicy(hwloc_topology* topology) : topology_(topology) {}
  Status set(int policy, const char* what) const;

  std::unique_ptr<hwloc_topology, Destroy> topology_;
};

}  // namespace teapot
