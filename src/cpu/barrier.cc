#include "cpu/barrier.h"

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

// Sequentially consistent on both sides: either the one who falls asleep sees the new generation, or the one who wrote it sees a sleeper.
void Barrier::release(uint32_t generation) {
  generation_.store(generation, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex(generation_, FUTEX_WAKE, INT_MAX);
}

void Barrier::await(uint32_t generation) {
  if (wait_ != Wait::kFutex) {
    const uint64_t begin = ticks();
    do {
      for (int i = 0; i < 16; ++i) {
        if (generation_.load(std::memory_order_acquire) != generation) return;
        _mm_pause();
      }
    } while (wait_ == Wait::kSpin || ticks() - begin < spin_ticks_);
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (generation_.load(std::memory_order_seq_cst) == generation) futex(generation_, FUTEX_WAIT, generation);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace teapot::cpu
