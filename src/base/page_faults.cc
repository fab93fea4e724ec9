#include "base/page_faults.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace teapot {

std::optional<PageFaultCounter> PageFaultCounter::open() {
  perf_event_attr event{};
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_SW_PAGE_FAULTS;
  event.exclude_kernel = 1;  // with perf_event_paranoid = 2, Debian's default, others are not allowed
  const auto descriptor = static_cast<int>(syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor < 0) return std::nullopt;
  return PageFaultCounter(descriptor);
}

PageFaultCounter::PageFaultCounter(PageFaultCounter&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

PageFaultCounter& PageFaultCounter::operator=(PageFaultCounter&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PageFaultCounter::~PageFaultCounter() {
  if (descriptor_ >= 0) close(descriptor_);
}

uint64_t PageFaultCounter::count() const {
  uint64_t count = 0;
  return read(descriptor_, &count, sizeof count) == sizeof count ? count : 0;
}

uint64_t process_page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_minflt) + static_cast<uint64_t>(usage.ru_majflt);
}

}  // namespace teapot
