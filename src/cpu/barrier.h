// Where the members of a team wait for each other. The last to arrive may do a serial piece of work before all go on.
#pragma once

#include <atomic>
#include <cstdint>

namespace teapot::cpu {

// How a member waits: asleep at once, awake for ever, or awake for a while and then asleep.
enum class Wait : uint8_t { kFutex, kSpin, kSpinFutex };

class Barrier {
 public:
  // spin_ticks: how long kSpinFutex stays awake (base/ticks.h).
  Barrier(uint32_t members, Wait wait, uint64_t spin_ticks) : members_(members), wait_(wait), spin_ticks_(spin_ticks) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  // Returns, on each member, once all have arrived and last() has run on the last of them. What was written before is seen after. Returns
  // whether this member was the last.
  template <class F>
  bool arrive(F&& last) {
    const uint32_t generation = generation_.load(std::memory_order_relaxed);  // cannot change before this member has arrived
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      last();
      release(generation + 1);
      return true;
    }
    await(generation);
    return false;
  }

 private:
  void release(uint32_t generation);
  void await(uint32_t generation);

  const uint32_t members_;
  const Wait wait_;
  const uint64_t spin_ticks_;
  // Each on its own cache line: one is written by everybody while everybody reads the other.
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> generation_ = 0;
  alignas(64) std::atomic<uint32_t> sleepers_ = 0;
};

}  // namespace teapot::cpu
