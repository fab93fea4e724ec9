#include "workbench/bench/load.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include <sched.h>

#include "base/topology.h"
#include "engine/philox.h"
#include "workbench/bench/load_worker.h"

namespace teapot::workbench {

using boost::asio::ip::tcp;

namespace {

constexpr double kMaxRate = 1e6;

// Threads that begin while it lives run on these processors only.
class Affinity {
 public:
  static Status set(Affinity& affinity, const std::vector<unsigned>& cpus) {
    if (cpus.empty()) return {};
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const unsigned cpu : cpus) {
      if (cpu >= CPU_SETSIZE) return fail(ErrorKind::kInvalid, "processor {} for the client: expected one below {}", cpu, CPU_SETSIZE);
      CPU_SET(cpu, &set);
    }
    if (sched_getaffinity(0, sizeof affinity.before_, &affinity.before_) != 0 || sched_setaffinity(0, sizeof set, &set) != 0)
      return fail(ErrorKind::kInvalid, "the client cannot run on the processors asked for: {}", std::strerror(errno));
    affinity.active_ = true;
    return {};
  }
  Affinity() = default;
  ~Affinity() {
    if (active_) sched_setaffinity(0, sizeof before_, &before_);
  }
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

 private:
  cpu_set_t before_;
  bool active_ = false;
};

// When requests are due that come at random moments, `rate` a second: their distances are exponential.
std::vector<int64_t> poisson_starts(double rate, uint64_t seed, size_t count) {
  std::vector<int64_t> starts(count);
  double at_s = 0;
  for (size_t i = 0; i < count; ++i) {
    starts[i] = static_cast<int64_t>(at_s * 1e9);
    at_s -= std::log1p(-engine::uniform(seed, i)) / rate;
  }
  return starts;
}

Status check(const LoadOptions& options, std::span<const LoadRequest> requests) {
  if (options.parallel == 0 || options.parallel > 65'535)
    return fail(ErrorKind::kInvalid, "a load of {} users at a time; expected 1 to 65535", options.parallel);
  if (!(options.rate >= 0 && options.rate <= kMaxRate))
    return fail(ErrorKind::kInvalid, "a rate of {} requests a second; expected at most {}", options.rate, kMaxRate);
  if (requests.size() <= options.warmup || requests.size() > std::numeric_limits<uint32_t>::max())
    return fail(ErrorKind::kInvalid, "a load of {} requests, {} of them warm-up; expected at least one that counts", requests.size(),
                options.warmup);
  return {};
}

void resolve(SharedLoad& load) {
  boost::asio::io_context io;
  boost::system::error_code error;
  tcp::resolver resolver(io);
  load.addresses = resolver.resolve(load.endpoint.host, std::to_string(load.endpoint.port), error);
  if (error) load.unresolved = fmt::format("no address of {}: {}", load.endpoint.host, error.message());
}

// The requests that were begun and are no warm-up, with the time that they took together.
LoadResult collect(SharedLoad& load, const std::vector<std::unique_ptr<LoadWorker>>& workers) {
  LoadResult result;
  result.parallel = load.options.parallel;
  result.rate = load.options.rate;
  for (size_t i = load.options.warmup; i < load.records.size(); ++i) {
    RequestRecord& record = load.records[i];
    if (record.start_ns == 0) continue;
    record.index = static_cast<uint32_t>(i - load.options.warmup);
    if (result.records.empty() || record.start_ns < result.start_ns) result.start_ns = record.start_ns;
    result.end_ns = std::max(result.end_ns, record.end_ns);
    result.records.push_back(std::move(record));
  }
  for (const auto& worker : workers) result.client_cpu_s += static_cast<double>(worker->cpu_ns()) * 1e-9;
  return result;
}

}  // namespace

Result<LoadResult> run_load(const Endpoint& endpoint, std::span<const LoadRequest> requests, const LoadOptions& options,
                            const LoadEvents& events) {
  TEAPOT_CHECK(check(options, requests));
  TEAPOT_TRY(const Topology topology, read_topology());
  Affinity affinity;
  TEAPOT_CHECK(Affinity::set(affinity, options.client_cpus));
  const size_t cpus = options.client_cpus.empty() ? topology.cpus() : options.client_cpus.size();
  const uint32_t users = std::min<uint32_t>(options.parallel, static_cast<uint32_t>(requests.size()));
  const auto threads = static_cast<uint32_t>(std::min<size_t>((users + kUsersPerThread - 1) / kUsersPerThread, cpus));

  SharedLoad load(endpoint, requests, options, events, threads);
  for (size_t i = 0; i < requests.size(); ++i) load.records[i].index = static_cast<uint32_t>(i);
  if (options.rate > 0) load.starts_ns = poisson_starts(options.rate, options.seed, requests.size());
  resolve(load);
  load.begin_ns = client_now_ns();
  std::vector<std::unique_ptr<LoadWorker>> workers;
  for (uint32_t i = 0; i < threads; ++i) {
    const uint32_t share = users / threads + (i < users % threads ? 1 : 0);
    workers.push_back(std::make_unique<LoadWorker>(load, i, share));
  }
  Status started;
  try {
    for (const auto& worker : workers) worker->start();
  } catch (const std::system_error& error) {
    started = fail(ErrorKind::kMemory, "{} threads of the client cannot be started: {}", threads, error.code().message());
    load.broken = true;
  }
  for (const auto& worker : workers) worker->join();
  if (!started) return std::unexpected(std::move(started).error());
  return collect(load, workers);
}

}  // namespace teapot::workbench
