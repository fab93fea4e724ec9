// Page faults of a thread, as the kernel counts them.
#pragma once

#include <cstdint>
#include <optional>

namespace teapot {

// The software event "page-faults" (perf_event_open(2)), of the thread that opens it. Any thread reads it; a read is one system call.
class PageFaultCounter {
 public:
  // nullopt: the system does not allow it.
  static std::optional<PageFaultCounter> open();

  PageFaultCounter(PageFaultCounter&& other) noexcept;
  PageFaultCounter& operator=(PageFaultCounter&& other) noexcept;
  ~PageFaultCounter();

  uint64_t count() const;  // since open()

 private:
  explicit PageFaultCounter(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// Of all threads of the process, since its start (getrusage(2)).
uint64_t process_page_faults();

}  // namespace teapot
