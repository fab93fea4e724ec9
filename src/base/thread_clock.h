// The processor time that the calling thread has used, as the system counts it: what a thread did, whoever else was on its processor.
#pragma once

#include <cstdint>

#include <time.h>

namespace teapot {

inline int64_t thread_cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace teapot
