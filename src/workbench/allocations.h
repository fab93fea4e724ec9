// Heap allocations of the whole process, counted where a measurement asks for it. Linking this replaces the program's operator new by one
// that counts; what C libraries take from malloc directly is not seen.
#pragma once

#include <cstdint>

namespace teapot::workbench {

// While one lives, operator new counts, on all threads. One at a time.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  uint64_t count() const;  // since this one was made
};

}  // namespace teapot::workbench
