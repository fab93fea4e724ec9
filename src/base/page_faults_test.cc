#include "base/page_faults.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>

namespace teapot {
namespace {

constexpr size_t kPage = 4096, kPages = 64;

// Touches pages that nobody has touched; one at a time, whatever the system would rather give.
void fault() {
  void* const memory = mmap(nullptr, kPage * kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPage * kPages, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) static_cast<volatile std::byte*>(memory)[i * kPage] = std::byte{1};
  munmap(memory, kPage * kPages);
}

TEST(PageFaults, TheProcessCountsThem) {
  const uint64_t before = process_page_faults();
  fault();
  EXPECT_GE(process_page_faults() - before, kPages);
}

TEST(PageFaults, AThreadCountsItsOwn) {
  const auto counter = PageFaultCounter::open();
  if (!counter) GTEST_SKIP() << "perf events are not allowed here";
  const uint64_t before = counter->count();
  fault();
  EXPECT_GE(counter->count() - before, kPages);
}

}  // namespace
}  // namespace teapot
