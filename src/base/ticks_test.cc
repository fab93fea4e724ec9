#include "base/ticks.h"

#include <gtest/gtest.h>
#include <chrono>
#include <thread>

namespace teapot {
namespace {

TEST(Ticks, AgreeWithTheSteadyClock) {
  ticks_per_ns();
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t first = ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double ns = static_cast<double>(ticks() - first) / ticks_per_ns();
  const double expected = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_NEAR(ns / expected, 1, 0.05);
}

}  // namespace
}  // namespace teapot
