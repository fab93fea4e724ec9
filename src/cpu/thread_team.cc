#include "cpu/thread_team.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/ticks.h"

namespace teapot::cpu {
namespace {

cpu_set_t set_of(std::span<const unsigned> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

}  // namespace

Result<CallerPin> CallerPin::to(std::span<const unsigned> cpus) {
  cpu_set_t before;
  const cpu_set_t set = set_of(cpus);
  if (sched_getaffinity(0, sizeof(before), &before) != 0 || sched_setaffinity(0, sizeof(set), &set) != 0) {
    return fail(ErrorKind::kIo, "cannot bind the calling thread to cpu {}: {}", fmt::join(cpus, ","),
                std::generic_category().message(errno));
  }
  return CallerPin(before, gettid());
}

CallerPin::~CallerPin() {
  if (thread_ != 0) sched_setaffinity(thread_, sizeof(before_), &before_);
}

ThreadTeam::ThreadTeam(size_t workers, const WaitPolicy& policy)
    : workers_(workers), barrier_(static_cast<uint32_t>(workers), policy), gate_(policy) {}

Result<std::unique_ptr<ThreadTeam>> ThreadTeam::create(size_t workers, std::span<const CpuList> cpus, const Waiting& waiting) {
  if (workers == 0 || (!cpus.empty() && cpus.size() != workers)) {
    return fail(ErrorKind::kInternal, "thread team of {} workers with {} places", workers, cpus.size());
  }
  // Started before they join the barrier for the first time: a team that cannot be completed must still be able to end.
  const WaitPolicy policy{waiting.wait, static_cast<uint64_t>(waiting.spin_us * 1000 * ticks_per_ns())};
  std::unique_ptr<ThreadTeam> team(new ThreadTeam(workers, policy));
  std::vector<std::jthread>& threads = team->threads_;
  threads.reserve(workers - 1);
  std::atomic<int> go = 0;  // 1: work, -1: end
  const auto start = [&](size_t worker) {
    threads.emplace_back([raw = team.get(), worker, &go] {
      go.wait(0);
      if (go.load() == 1) raw->work(worker);
    });
  };
  const auto give_up = [&](Error error) {
    go = -1;
    go.notify_all();
    threads.clear();  // joins; the destructor then finds nobody to wait for
    return std::unexpected(std::move(error));
  };
  for (size_t worker = 1; worker < workers; ++worker) {
    try {
      start(worker);
    } catch (const std::system_error& error) {
      return give_up({ErrorKind::kIo, fmt::format("cannot start thread {} of {}: {}", worker + 1, workers, error.what())});
    }
    if (cpus.empty()) continue;
    const cpu_set_t set = set_of(cpus[worker]);
    if (const int error = pthread_setaffinity_np(threads.back().native_handle(), sizeof(set), &set); error != 0) {
      return give_up({ErrorKind::kIo, fmt::format("cannot bind worker {} to cpu {}: {}", worker, fmt::join(cpus[worker], ","),
                                                  std::generic_category().message(error))});
    }
  }
  go = 1;
  go.notify_all();
  // `go` is this call's: nobody may look at it any more when it returns.
  team->run([](size_t) {});
  return team;
}

Result<std::unique_ptr<ThreadTeam>> ThreadTeam::create(size_t workers, std::span<const unsigned> cpus) {
  std::vector<CpuList> lists;
  for (const unsigned cpu : cpus) lists.push_back({cpu});
  return create(workers, lists, Waiting{});
}

ThreadTeam::~ThreadTeam() {
  if (threads_.empty()) return;
  stop_ = true;
  barrier_.arrive([] {});
  threads_.clear();  // joins
}

void ThreadTeam::fork_join(Task task, void* context) {
  task_ = task;
  context_ = context;
  begin_phase();
  barrier_.arrive([] {});
  task(context, 0);
  barrier_.arrive([] {});
}

void ThreadTeam::work(size_t worker) {
  while (true) {
    barrier_.arrive([] {});
    if (stop_) return;
    task_(context_, worker);
    barrier_.arrive([] {});
  }
}

}  // namespace teapot::cpu
