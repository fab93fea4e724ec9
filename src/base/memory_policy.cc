#include "base/memory_policy.h"

#include <cerrno>
#include <system_error>

#include <hwloc.h>

namespace teapot {

void MemoryPolicy::Destroy::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

Result<MemoryPolicy> MemoryPolicy::create() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return fail(ErrorKind::kIo, "hwloc: init: {}", std::generic_category().message(errno));
  MemoryPolicy result(topology);
  if (hwloc_topology_load(topology) != 0) return fail(ErrorKind::kIo, "hwloc: load: {}", std::generic_category().message(errno));
  return result;
}

Status MemoryPolicy::set(int policy, const char* what) const {
  const hwloc_const_nodeset_t nodes = hwloc_topology_get_allowed_nodeset(topology_.get());
  if (hwloc_set_membind(topology_.get(), nodes, static_cast<hwloc_membind_policy_t>(policy),
                        HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) != 0) {
    return fail(ErrorKind::kIo, "the system refuses {} memory: {}", what, std::generic_category().message(errno));
  }
  return {};
}

Status MemoryPolicy::interleave() const { return set(HWLOC_MEMBIND_INTERLEAVE, "interleaved"); }
Status MemoryPolicy::local() const { return set(HWLOC_MEMBIND_DEFAULT, "local"); }

}  // namespace teapot
