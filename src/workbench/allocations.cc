#include "workbench/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<uint64_t> allocations = 0;

void* allocate(size_t bytes, size_t alignment) {
  // Read by all, written when a measurement begins or ends: it costs the others nothing.
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  bytes = bytes == 0 ? 1 : bytes;
  while (true) {
    void* const memory = alignment <= alignof(max_align_t) ? std::malloc(bytes)
                                                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// The standard's other forms call these. Not inlined: gcc would see free() of what an operator new gave, and warn.
[[gnu::noinline]] void* operator new(size_t bytes) { return allocate(bytes, 0); }
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) { return allocate(bytes, static_cast<size_t>(alignment)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace teapot::workbench {

AllocationCount::AllocationCount() {
  allocations.store(0);
  counting.store(true);
}

AllocationCount::~AllocationCount() { counting.store(false); }

uint64_t AllocationCount::count() const { return allocations.load(); }

}  // namespace teapot::workbench
