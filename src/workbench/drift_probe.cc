#include "workbench/drift_probe.h"

#include <algorithm>

#include "base/memory.h"
#include "base/topology.h"
#include "cpu/thread_team.h"
#include "workbench/roof.h"

namespace teapot::workbench {

Result<double> probe_read_gbs() {
  constexpr uint64_t kLeastBytes = uint64_t{256} << 20;
  constexpr int kPasses = 5;
  TEAPOT_TRY(const Topology topology, read_topology());
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  const WorkingSet set{std::max(kLeastBytes, 2 * topology.l3_bytes), ""};
  if (2 * set.bytes > memory.available_bytes) {
    return fail(ErrorKind::kMemory, "the bandwidth probe reads {} bytes and leaves as many free; {} are available ({})", set.bytes,
                memory.available_bytes, memory.limited_by);
  }
  const size_t threads = topology.cores.size();
  // Workers sleep where they have nothing to do, and go wherever the server leaves room.
  TEAPOT_TRY(const auto team, cpu::ThreadTeam::create(threads, std::span<const cpu::CpuList>{}, {.wait = cpu::Wait::kFutex}));
  const Crew crew{threads, [&team](const std::function<void(size_t)>& fn) -> Status {
                    team->run(fn);
                    return {};
                  }};
  TEAPOT_TRY(ReadMeter meter, ReadMeter::create(crew, set));
  TEAPOT_TRY(const ReadKernel kernel, meter.fastest(threads));
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    TEAPOT_TRY(const double gbs, meter.pass(kernel, threads));
    best = std::max(best, gbs);
  }
  return best;
}

}  // namespace teapot::workbench
