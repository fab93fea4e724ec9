#include "cpu/thread_team.h"

#include <pthread.h>

#include <cerrno>
#include <system_error>

#include <immintrin.h>

namespace teapot::cpu {
namespace {

// About 50 us: longer than the serial pieces within a step, shorter than what anybody would notice of an idle team.
constexpr int kSpins = 1500;

// Returns the value once it differs from `old`.
unsigned wait_change(const std::atomic<unsigned>& value, unsigned old) {
  for (int i = 0; i < kSpins; ++i) {
    const unsigned now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    _mm_pause();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

cpu_set_t only(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

}  // namespace

Result<CallerPin> CallerPin::to(unsigned cpu) {
  cpu_set_t before;
  const cpu_set_t set = only(cpu);
  if (sched_getaffinity(0, sizeof(before), &before) != 0 || sched_setaffinity(0, sizeof(set), &set) != 0) {
    return fail(ErrorKind::kIo, "cannot pin the calling thread to cpu {}: {}", cpu, std::generic_category().message(errno));
  }
  return CallerPin(before);
}

CallerPin::~CallerPin() {
  if (active_) sched_setaffinity(0, sizeof(before_), &before_);
}

Result<std::unique_ptr<ThreadTeam>> ThreadTeam::create(size_t workers, std::span<const unsigned> cpus) {
  if (workers == 0 || (!cpus.empty() && cpus.size() != workers)) {
    return fail(ErrorKind::kInternal, "thread team of {} workers with {} cpus", workers, cpus.size());
  }
  std::unique_ptr<ThreadTeam> team(new ThreadTeam);
  team->threads_.reserve(workers - 1);
  for (size_t worker = 1; worker < workers; ++worker) {
    try {
      team->threads_.emplace_back([raw = team.get(), worker] { raw->work(worker); });
    } catch (const std::system_error& error) {
      return fail(ErrorKind::kIo, "cannot start thread {} of {}: {}", worker + 1, workers, error.what());
    }
    if (cpus.empty()) continue;
    const cpu_set_t set = only(cpus[worker]);
    if (const int error = pthread_setaffinity_np(team->threads_.back().native_handle(), sizeof(set), &set); error != 0) {
      return fail(ErrorKind::kIo, "cannot pin worker {} to cpu {}: {}", worker, cpus[worker], std::generic_category().message(error));
    }
  }
  return team;
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  generation_.fetch_add(1);
  generation_.notify_all();
  threads_.clear();  // joins
}

void ThreadTeam::fork_join(Task task, void* context) {
  task_ = task;
  context_ = context;
  pending_.store(static_cast<unsigned>(threads_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1);
  generation_.notify_all();
  task(context, 0);
  for (unsigned left = pending_.load(std::memory_order_acquire); left != 0;) left = wait_change(pending_, left);
}

void ThreadTeam::work(size_t worker) {
  unsigned seen = 0;
  while (true) {
    seen = wait_change(generation_, seen);
    if (stop_) return;
    task_(context_, worker);
    if (pending_.fetch_sub(1) == 1) pending_.notify_one();
  }
}

}  // namespace teapot::cpu
