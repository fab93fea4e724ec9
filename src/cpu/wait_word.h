// A word that threads wait on until another changes it.
#pragma once

#include <atomic>
#include <cstdint>

namespace teapot::cpu {

// How a thread waits: asleep at once, awake for ever, or awake for a while and then asleep.
enum class Wait : uint8_t { kFutex, kSpin, kSpinFutex };

struct WaitPolicy {
  Wait wait = Wait::kSpinFutex;
  uint64_t spin_ticks = 0;  // how long kSpinFutex stays awake (base/ticks.h)
};

class WaitWord {
 public:
  // For those who need no answer at once: nobody may be waiting.
  void reset(uint32_t value) { value_.store(value, std::memory_order_relaxed); }
  uint32_t load() const { return value_.load(std::memory_order_relaxed); }

  // Lets all go on who wait for another value; they see what was written before.
  void set(uint32_t value);
  // Returns once the value is not `old` any more.
  void await_change(uint32_t old, const WaitPolicy& policy);

 private:
  // Each on its own cache line: sleepers come and go while others look at the value.
  alignas(64) std::atomic<uint32_t> value_ = 0;
  alignas(64) std::atomic<uint32_t> sleepers_ = 0;
};

}  // namespace teapot::cpu
