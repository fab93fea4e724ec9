#include "workbench/roof.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/memory.h"
#include "base/topology.h"
#include "cpu/thread_team.h"
#include "workbench/figures.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kLeastWorkingSet = kGiB / 4;  // less is a cache's figure
constexpr int kPasses = 5;
constexpr int kRoundTrips = 2000;

double seconds_since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

// Results that nobody reads must not be left out.
void use(uint64_t value) {
  static std::atomic<uint64_t> sink;
  sink.fetch_xor(value, std::memory_order_relaxed);
}

// Seconds that `iterations` take on all workers together.
Result<double> time_burst(const Crew& crew, const ArithmeticKernel& kernel, uint64_t iterations) {
  const auto start = Clock::now();
  TEAPOT_CHECK(crew.run([&](size_t) { use(kernel.run(iterations)); }));
  return seconds_since(start);
}

}  // namespace

Crew Crew::of(plan::Backend& backend) {
  return {backend.workers(), [&backend](const std::function<void(size_t)>& fn) { return backend.on_workers(fn); }};
}

Result<WorkingSet> choose_working_set(uint64_t spare_bytes) {
  TEAPOT_TRY(const Topology topology, read_topology());
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  const uint64_t room = memory.available_bytes - std::min(memory.available_bytes, spare_bytes);
  const uint64_t wanted = std::max(2 * kGiB, 8 * topology.l3_bytes);
  if (wanted <= room) return WorkingSet{wanted, wanted > 2 * kGiB ? "8 x L3" : ""};
  if (room < kLeastWorkingSet) {
    return fail(ErrorKind::kMemory,
                "the read bandwidth is measured over {} bytes at least; {} are available ({}), of which {} are kept free", kLeastWorkingSet,
                memory.available_bytes, memory.limited_by, spare_bytes);
  }
  return WorkingSet{room, fmt::format("{} bytes were wanted; no more memory is free: an L3 cache of {} bytes may flatter the bandwidth",
                                      wanted, topology.l3_bytes)};
}

Result<ReadMeter> ReadMeter::create(Crew crew, const WorkingSet& set) {
  const size_t grains = set.bytes / kReadGrain;
  TEAPOT_TRY(cpu::Arena arena, cpu::Arena::reserve("the read test", grains * kReadGrain, cpu::supported_pages(cpu::Pages::kThp).active));
  TEAPOT_CHECK(crew.run([&](size_t worker) {
    const size_t first = grains * worker / crew.size, last = grains * (worker + 1) / crew.size;
    std::fill(arena.data() + first * kReadGrain, arena.data() + last * kReadGrain, std::byte{1});
  }));
  return ReadMeter(std::move(crew), std::move(arena), grains);
}

Result<double> ReadMeter::pass(const ReadKernel& kernel, size_t threads) {
  const auto start = Clock::now();
  TEAPOT_CHECK(crew_.run([&](size_t worker) {
    if (worker >= threads) return;
    const size_t first = grains_ * worker / threads, last = grains_ * (worker + 1) / threads;
    use(kernel.read(arena_.data() + first * kReadGrain, (last - first) * kReadGrain));
  }));
  return static_cast<double>(bytes()) / seconds_since(start) / 1e9;
}

Result<ReadKernel> ReadMeter::fastest(size_t threads) {
  const std::vector<ReadKernel> kernels = read_kernels();
  std::vector<double> best(kernels.size());
  for (int round = 0; round < 2; ++round) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      TEAPOT_TRY(const double gbs, pass(kernels[k], threads));
      best[k] = std::max(best[k], gbs);
    }
  }
  return kernels[static_cast<size_t>(std::ranges::max_element(best) - best.begin())];
}

Result<double> peak_gmacs(const Crew& crew, const ArithmeticKernel& kernel) {
  constexpr double kBurstSeconds = 3e-3;
  constexpr int kBursts = 5;
  uint64_t iterations = 1000;
  TEAPOT_TRY(double seconds, time_burst(crew, kernel, iterations));
  while (seconds < kBurstSeconds / 2) {
    iterations = std::max(2 * iterations, static_cast<uint64_t>(static_cast<double>(iterations) * kBurstSeconds / seconds));
    TEAPOT_TRY(seconds, time_burst(crew, kernel, iterations));
  }
  double best = seconds;
  for (int burst = 0; burst < kBursts; ++burst) {
    TEAPOT_TRY(seconds, time_burst(crew, kernel, iterations));
    best = std::min(best, seconds);
  }
  return static_cast<double>(iterations * kernel.macs * crew.size) / best / 1e9;
}

const ArithmeticKernel& arithmetic_of(const std::vector<ArithmeticKernel>& kernels, Arithmetic kind, std::string_view isa) {
  const auto of_table = std::ranges::find_if(kernels, [&](const auto& kernel) { return kernel.kind == kind && kernel.isa == isa; });
  if (of_table != kernels.end()) return *of_table;
  return *std::ranges::find_if(kernels, [&](const auto& kernel) { return kernel.kind == kind; });
}

Result<Roof> measure_roof(size_t threads) {
  TEAPOT_TRY(const Topology topology, read_topology());
  if (threads == 0) threads = topology.cores.size();
  if (threads > topology.cpus()) {
    return fail(ErrorKind::kUnsupported, "threads: {} cannot be bound to {}", threads, topology.describe());
  }
  const std::vector<unsigned> cpus = topology.place(threads);
  const std::vector<ArithmeticKernel> arithmetic = arithmetic_kernels();
  TEAPOT_TRY(const auto team, cpu::ThreadTeam::create(threads, cpus));
  TEAPOT_TRY(const auto pin, cpu::CallerPin::to(cpus[0]));
  const Crew crew{threads, [&team](const std::function<void(size_t)>& fn) -> Status {
                    team->run(fn);
                    return {};
                  }};
  Roof roof;
  TEAPOT_TRY(roof.set, choose_working_set(kGiB / 2));
  TEAPOT_TRY(ReadMeter meter, ReadMeter::create(crew, roof.set));
  for (size_t n = 1; n <= threads; ++n) {
    TEAPOT_TRY(const ReadKernel kernel, meter.fastest(n));
    std::vector<double> gbs(kPasses);
    for (double& value : gbs) {
      TEAPOT_TRY(value, meter.pass(kernel, n));
    }
    roof.read.push_back({n, median(gbs), *std::ranges::max_element(gbs), kernel.name});
  }
  for (const ArithmeticKernel& kernel : arithmetic) {
    TEAPOT_TRY(const double gmacs, peak_gmacs(crew, kernel));
    roof.peaks.push_back({kernel, gmacs});
  }
  auto start = Clock::now();
  for (int i = 0; i < kRoundTrips; ++i) team->run([](size_t) {});
  roof.fork_ns = seconds_since(start) * 1e9 / kRoundTrips;
  start = Clock::now();
  team->run([&team](size_t) {
    for (int i = 0; i < kRoundTrips; ++i) team->sync([] {});
  });
  roof.barrier_ns = seconds_since(start) * 1e9 / kRoundTrips;
  TEAPOT_TRY(roof.pages, probe_pages());
  return roof;
}

}  // namespace teapot::workbench
