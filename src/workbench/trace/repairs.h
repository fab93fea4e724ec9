// What records of a real trace need before they can be added up. Each repair is counted, and a warning says so.
#pragma once

#include <cstdint>

#include "workbench/trace/slices.h"

namespace teapot::workbench::trace {

struct Repairs {
  uint64_t no_time = 0;          // dropped: neither start nor length
  uint64_t zero_length = 0;      // dropped
  uint64_t negative_length = 0;  // dropped
  uint64_t far_from_launch = 0;  // dropped: more than 10 ms before its launch, which no clock's error is
  uint64_t clipped = 0;          // ran over the next slice of their stream
  int64_t clock_skew_ns = 0;     // the device's clock was behind by so much: all its times were moved

  uint64_t dropped() const { return no_time + zero_length + negative_length + far_from_launch; }
};

// Leaves the device's slices in order of start. What lies within a collective and belongs to it is taken away; that is no repair.
Repairs repair(Trace& trace);

}  // namespace teapot::workbench::trace
