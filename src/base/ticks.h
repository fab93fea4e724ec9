// The processor's time stamp counter: a clock that costs a few nanoseconds to read and is the same on all cores.
#pragma once

#include <cstdint>

#include <x86intrin.h>

namespace teapot {

inline uint64_t ticks() { return __rdtsc(); }

// Measured once, against the system's steady clock: the first call takes some milliseconds.
double ticks_per_ns();

}  // namespace teapot
