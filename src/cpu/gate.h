// Opens when a number of pieces of work are done, whoever does them: those who need them wait for the pieces, not for all members of a
// team.
#pragma once

#include "cpu/wait_word.h"

namespace teapot::cpu {

class Gate {
 public:
  explicit Gate(const WaitPolicy& policy) : policy_(policy) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Nobody may be at the gate.
  void close() {
    done_.store(0, std::memory_order_relaxed);
    open_.reset(0);
  }

  // A piece is done. With the last of `pieces` last() runs, then the gate opens. Returns whether this was the last.
  template <class F>
  bool done(uint32_t pieces, F&& last) {
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 != pieces) return false;
    last();
    open_.set(1);
    return true;
  }

  // Returns once the gate is open; what the pieces and last() wrote is seen.
  void pass() { open_.await_change(0, policy_); }

 private:
  const WaitPolicy policy_;
  alignas(64) std::atomic<uint32_t> done_ = 0;
  WaitWord open_;
};

}  // namespace teapot::cpu
