// Where the members of a team wait for each other. The last to arrive may do a serial piece of work before all go on.
#pragma once

#include "cpu/wait_word.h"

namespace teapot::cpu {

class Barrier {
 public:
  Barrier(uint32_t members, const WaitPolicy& policy) : members_(members), policy_(policy) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  // Returns, on each member, once all have arrived and last() has run on the last of them. What was written before is seen after. Returns
  // whether this member was the last.
  template <class F>
  bool arrive(F&& last) {
    const uint32_t generation = generation_.load();  // cannot change before this member has arrived
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      last();
      generation_.set(generation + 1);
      return true;
    }
    generation_.await_change(generation, policy_);
    return false;
  }

 private:
  const uint32_t members_;
  const WaitPolicy policy_;
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  WaitWord generation_;
};

}  // namespace teapot::cpu
