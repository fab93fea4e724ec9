#include "base/topology.h"

#include <cerrno>
#include <memory>
#include <set>
#include <system_error>

#include <hwloc.h>

namespace teapot {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

Result<TopologyHandle> load() {
  const auto failed = [](const char* what) { return fail(ErrorKind::kIo, "hwloc: {}: {}", what, std::generic_category().message(errno)); };
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("init");
  TopologyHandle topology(raw);
  // Within the binding only: reading the topology must not wander over processors that are another's.
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) != 0)
    return failed("set_flags");
  if (hwloc_topology_load(raw) != 0) return failed("load");
  return topology;
}

std::vector<unsigned> members(hwloc_const_bitmap_t set) {
  std::vector<unsigned> result;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) result.push_back(static_cast<unsigned>(i));
  return result;
}

}  // namespace

size_t Topology::cpus() const {
  size_t count = 0;
  for (const Core& core : cores) count += core.cpus.size();
  return count;
}

std::vector<unsigned> Topology::place(size_t threads) const {
  std::vector<unsigned> result;
  for (size_t sibling = 0; result.size() < threads && sibling < cpus(); ++sibling) {
    for (const Core& core : cores) {
      if (result.size() < threads && sibling < core.cpus.size()) result.push_back(core.cpus[sibling]);
    }
  }
  return result;
}

std::string Topology::describe() const {
  return fmt::format("{} core{} ({} hardware thread{}), {} NUMA node{}", cores.size(), cores.size() == 1 ? "" : "s", cpus(),
                     cpus() == 1 ? "" : "s", numa_nodes, numa_nodes == 1 ? "" : "s");
}

Result<Topology> read_topology() {
  TEAPOT_TRY(const TopologyHandle topology, load());
  Topology result{};
  std::set<unsigned> nodes;
  // Some virtual machines show no cores: then every hardware thread counts as one.
  const hwloc_obj_type_t kind = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology.get(), kind, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology.get(), kind, object)) {
    Core core{members(object->cpuset), 0};
    if (core.cpus.empty()) continue;
    const int node = hwloc_bitmap_first(object->nodeset);
    core.numa_node = node < 0 ? 0 : static_cast<unsigned>(node);
    nodes.insert(core.numa_node);
    result.cores.push_back(std::move(core));
  }
  for (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_L3CACHE, nullptr); cache != nullptr;
       cache = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_L3CACHE, cache)) {
    result.l3_bytes += cache->attr->cache.size;
  }
  if (result.cores.empty()) return fail(ErrorKind::kIo, "hwloc: no processor that this process may use");
  result.numa_nodes = static_cast<unsigned>(nodes.size());
  return result;
}

std::string cpu_ranges(const std::vector<unsigned>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (end > i + 1) text += fmt::format("-{}", cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace teapot
