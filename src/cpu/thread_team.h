// Threads that work on one step together: persistent, pinned, woken by the thread that owns the step.
//
// The caller of run() is worker 0. The others spin for a while after each piece of work and then sleep, so that the forks within a
// step cost no system call and an idle team costs no processor. One caller at a time.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace teapot::cpu {

// Keeps the calling thread on one cpu while it lives. Only while: threads inherit the affinity of the thread that starts them.
class CallerPin {
 public:
  static Result<CallerPin> to(unsigned cpu);

  CallerPin(CallerPin&& other) noexcept : before_(other.before_), active_(std::exchange(other.active_, false)) {}
  CallerPin& operator=(CallerPin&&) = delete;
  ~CallerPin();

 private:
  explicit CallerPin(const cpu_set_t& before) : before_(before), active_(true) {}

  cpu_set_t before_;
  bool active_;
};

class ThreadTeam {
 public:
  // cpus: where each worker is pinned, worker 0's (the caller's) included; empty: not pinned. kIo when the system refuses.
  static Result<std::unique_ptr<ThreadTeam>> create(size_t workers, std::span<const unsigned> cpus);

  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  size_t workers() const { return threads_.size() + 1; }

  // fn(worker) once on each worker; returns when all are done. fn must not throw.
  template <class F>
  void run(F&& fn) {
    using Fn = std::remove_reference_t<F>;
    fork_join([](void* context, size_t worker) { (*static_cast<Fn*>(context))(worker); }, const_cast<void*>(static_cast<const void*>(&fn)));
  }

  // fn(item, worker) for each item in [0, items). Items are claimed one by one, in ascending order, so that a slow core takes fewer.
  template <class F>
  void parallel_for(size_t items, F&& fn) {
    if (items == 0) return;
    if (items == 1 || threads_.empty()) {
      for (size_t item = 0; item < items; ++item) fn(item, size_t{0});
      return;
    }
    next_item_.store(0, std::memory_order_relaxed);  // published by the fork
    run([&](size_t worker) {
      for (size_t item; (item = next_item_.fetch_add(1, std::memory_order_relaxed)) < items;) fn(item, worker);
    });
  }

 private:
  using Task = void (*)(void* context, size_t worker);

  ThreadTeam() = default;
  void fork_join(Task task, void* context);
  void work(size_t worker);

  Task task_ = nullptr;
  void* context_ = nullptr;
  bool stop_ = false;  // published by generation_, like the two above
  // Each on its own cache line: the counters are written by all workers while the others spin on them.
  alignas(64) std::atomic<unsigned> generation_ = 0;  // one more: new work
  alignas(64) std::atomic<unsigned> pending_ = 0;     // workers not yet done with it
  alignas(64) std::atomic<size_t> next_item_ = 0;
  std::vector<std::jthread> threads_;  // workers 1 and up
};

}  // namespace teapot::cpu
