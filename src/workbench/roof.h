// What this host can do at most, measured: how fast so many threads read memory, and how many products they compute. Every floor is
// counted from figures of the same run, since neighbours on a shared machine take their part.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cpu/arena.h"
#include "plan/backend.h"
#include "workbench/arithmetic_kernels.h"
#include "workbench/host_pages.h"
#include "workbench/read_kernels.h"

namespace teapot::workbench {

// The threads that are measured. run calls fn(worker) once on each and returns when all are done.
struct Crew {
  size_t size;
  std::function<Status(const std::function<void(size_t worker)>& fn)> run;

  static Crew of(plan::Backend& backend);  // which must outlive it
};

// The memory that is read: more than caches hold, so far as there is room for it.
struct WorkingSet {
  uint64_t bytes = 0;
  std::string note;  // "8 x L3", or why it is less
};
// At least 2 GiB and eight times the L3 cache, at most what is available less `spare_bytes`. kMemory where that is less than 256 MiB.
Result<WorkingSet> choose_working_set(uint64_t spare_bytes);

class ReadMeter {
 public:
  // Takes the memory; each worker touches its own part first.
  static Result<ReadMeter> create(Crew crew, const WorkingSet& set);

  // GB/s of one pass over the working set by the first `threads` workers. On a machine of several NUMA nodes fewer than all workers read
  // parts that lie near others.
  Result<double> pass(const ReadKernel& kernel, size_t threads);
  // The kernel that was fastest in the best of two passes each.
  Result<ReadKernel> fastest(size_t threads);

  uint64_t bytes() const { return grains_ * kReadGrain; }

 private:
  ReadMeter(Crew crew, cpu::Arena arena, size_t grains) : crew_(std::move(crew)), arena_(std::move(arena)), grains_(grains) {}

  Crew crew_;
  cpu::Arena arena_;
  size_t grains_;  // pages of the working set
};

// GMAC/s of all workers together: the best of some short bursts.
Result<double> peak_gmacs(const Crew& crew, const ArithmeticKernel& kernel);

// The kernel that a floor is counted from: that of the kernel table in use (KernelTable::isa), or the processor's best where the table has
// none of its own.
const ArithmeticKernel& arithmetic_of(const std::vector<ArithmeticKernel>& kernels, Arithmetic kind, std::string_view isa);

struct ReadRoof {
  size_t threads;
  double gbs, best_gbs;  // median and best pass
  std::string kernel;
};

struct PeakRoof {
  ArithmeticKernel kernel;
  double gmacs;
};

struct Roof {
  WorkingSet set;
  std::vector<ReadRoof> read;   // [threads], from 1
  std::vector<PeakRoof> peaks;  // by kind, the best instruction set first
  double fork_ns = 0;           // an empty piece of work for all threads, there and back
  double barrier_ns = 0;        // of all threads within a piece of work
  std::vector<PageGrant> pages;
};

// threads: 0 for one a physical core that the process may use, pinned.
Result<Roof> measure_roof(size_t threads);

Json to_json(const Roof& roof);
std::string to_text(const Roof& roof);

}  // namespace teapot::workbench
