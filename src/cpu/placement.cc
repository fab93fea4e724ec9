#include "cpu/placement.h"

#include <algorithm>
#include <map>

namespace teapot::cpu {
Result<Placement> place(const Topology& topology, size_t workers, Bind bind) {
  if (bind == Bind::kOff) return Placement{{}, "not bound", topology.cpus()};
  if (workers > topology.cpus()) {
    return fail(ErrorKind::kUnsupported, "threads: {} cannot be bound to {}; use fewer, or --bind=off", workers, topology.describe());
  }
  Placement placement{{}, "", workers};
  const CpuList one_each = topology.place(workers);
  if (bind == Bind::kCore) {
    for (const unsigned cpu : one_each) placement.cpus.push_back({cpu});
    placement.text = "cpus " + cpu_ranges(one_each);
    return placement;
  }
  std::map<unsigned, CpuList> nodes;
  std::map<unsigned, unsigned> node_of;  // cpu -> node
  for (const Core& core : topology.cores) {
    for (const unsigned cpu : core.cpus) {
      nodes[core.numa_node].push_back(cpu);
      node_of[cpu] = core.numa_node;
    }
  }
  std::map<unsigned, size_t> members;
  for (auto& [node, cpus] : nodes) std::ranges::sort(cpus);
  for (const unsigned cpu : one_each) {
    placement.cpus.push_back(nodes[node_of[cpu]]);
    ++members[node_of[cpu]];
  }
  for (const auto& [node, count] : members) {
    placement.text += fmt::format("{}{} on node {} (cpus {})", placement.text.empty() ? "" : ", ", count, node, cpu_ranges(nodes[node]));
  }
  return placement;
}

}  // namespace teapot::cpu
