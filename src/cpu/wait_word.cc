#include "cpu/wait_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include <immintrin.h>

#include "base/ticks.h"

namespace teapot::cpu {
namespace {

// The system call itself: GCC 12's std::atomic::wait goes through a table of waiters that all atomics of the program share.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  static_assert(sizeof(word) == sizeof(uint32_t));
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

// Sequentially consistent on both sides: either the one who falls asleep sees the new value, or the one who wrote it sees a sleeper.
void WaitWord::set(uint32_t value) {
  value_.store(value, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex(value_, FUTEX_WAKE, INT_MAX);
}

void WaitWord::await_change(uint32_t old, const WaitPolicy& policy) {
  if (policy.wait != Wait::kFutex) {
    const uint64_t begin = ticks();
    do {
      for (int i = 0; i < 16; ++i) {
        if (value_.load(std::memory_order_acquire) != old) return;
        _mm_pause();
      }
    } while (policy.wait == Wait::kSpin || ticks() - begin < policy.spin_ticks);
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (value_.load(std::memory_order_seq_cst) == old) futex(value_, FUTEX_WAIT, old);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace teapot::cpu
