// Threads that work on one step together: persistent, bound to processors, woken by the thread that owns the step.
//
// The caller of run() is worker 0. Within a run the workers meet at barriers and claim items; the others wait for the next run at a
// barrier too, so that an idle team that may sleep costs no processor. One caller at a time.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "cpu/barrier.h"
#include "cpu/gate.h"

namespace teapot::cpu {

using CpuList = std::vector<unsigned>;

// Keeps the thread that made it on some cpus while it lives; may be destroyed by another. Threads inherit the affinity of the one that
// starts them.
class CallerPin {
 public:
  static Result<CallerPin> to(std::span<const unsigned> cpus);
  static Result<CallerPin> to(unsigned cpu) { return to({&cpu, 1}); }

  CallerPin(CallerPin&& other) noexcept : before_(other.before_), thread_(std::exchange(other.thread_, 0)) {}
  CallerPin& operator=(CallerPin&&) = delete;
  ~CallerPin();

 private:
  CallerPin(const cpu_set_t& before, pid_t thread) : before_(before), thread_(thread) {}

  cpu_set_t before_;
  pid_t thread_;  // 0: moved away
};

class ThreadTeam {
 public:
  struct Waiting {
    Wait wait = Wait::kSpinFutex;
    // Of kSpinFutex: longer than the serial pieces of a step and the pause between two steps, shorter than what anybody would notice of
    // an idle team.
    double spin_us = 1000;
  };

  // cpus: where each worker may run, worker 0's (the caller's, who is left where he is) included; empty: not bound. kIo when the system
  // refuses.
  static Result<std::unique_ptr<ThreadTeam>> create(size_t workers, std::span<const CpuList> cpus, const Waiting& waiting);
  // One cpu a worker.
  static Result<std::unique_ptr<ThreadTeam>> create(size_t workers, std::span<const unsigned> cpus);

  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  size_t workers() const { return workers_; }

  // fn(worker) once on each worker; returns when all are done. fn must not throw.
  template <class F>
  void run(F&& fn) {
    using Fn = std::remove_reference_t<F>;
    fork_join([](void* context, size_t worker) { (*static_cast<Fn*>(context))(worker); }, const_cast<void*>(static_cast<const void*>(&fn)));
  }

  // fn(item, worker) for each item in [0, items), as a run of its own.
  template <class F>
  void parallel_for(size_t items, F&& fn) {
    if (items == 0) return;
    if (items == 1 || workers_ == 1) {
      for (size_t item = 0; item < items; ++item) fn(item, size_t{0});
      return;
    }
    run([&](size_t worker) {
      for (size_t item; (item = claim()) < items;) fn(item, worker);
    });
  }

  // Within a run: the next item of the phase, in ascending order from 0, so that a slow core takes fewer; those beyond the phase's last
  // mean that it is over. A phase begins with the run and with each sync().
  size_t claim() { return next_item_.fetch_add(1, std::memory_order_relaxed); }

  // Within a run: all workers meet; last() runs on the one that comes last, before any goes on. Returns whether this was the last.
  template <class F>
  bool sync(F&& last) {
    return barrier_.arrive([&] {
      last();
      begin_phase();
    });
  }

  // Within a run: the first pieces of a phase, of which the later ones need all. As Gate has it; closed when a phase begins.
  Gate& gate() { return gate_; }

 private:
  using Task = void (*)(void* context, size_t worker);

  ThreadTeam(size_t workers, const WaitPolicy& policy);
  void fork_join(Task task, void* context);
  void work(size_t worker);
  void begin_phase() {
    next_item_.store(0, std::memory_order_relaxed);
    gate_.close();
  }

  const size_t workers_;
  Barrier barrier_;
  Gate gate_;
  alignas(64) std::atomic<size_t> next_item_ = 0;
  Task task_ = nullptr;  // published by the barrier, like the two below
  void* context_ = nullptr;
  bool stop_ = false;
  std::vector<std::jthread> threads_;  // workers 1 and up
};

}  // namespace teapot::cpu
