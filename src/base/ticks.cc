#include "base/ticks.h"

#include <chrono>

namespace teapot {
namespace {

double measure() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kSpan{5};  // both clocks are read within about 50 ns: an error of some 1e-5
  const Clock::time_point begin = Clock::now();
  const uint64_t first = ticks();
  Clock::time_point end = begin;
  while (end - begin < kSpan) end = Clock::now();
  return static_cast<double>(ticks() - first) / std::chrono::duration<double, std::nano>(end - begin).count();
}

}  // namespace

double ticks_per_ns() {
  static const double rate = measure();
  return rate;
}

}  // namespace teapot
