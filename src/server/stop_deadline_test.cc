#include "server/stop_deadline.h"

#include <gtest/gtest.h>

namespace teapot::server {
namespace {

using std::chrono::milliseconds;

TEST(StopDeadline, DoesNothingToAStopThatEndsInTime) {
  const auto start = std::chrono::steady_clock::now();
  {
    StopDeadline deadline;
    deadline.arm(std::chrono::hours(1));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(StopDeadline, EndsTheProcessThatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        StopDeadline deadline;
        deadline.arm(std::chrono::hours(1));
        deadline.arm(milliseconds(50));
        std::this_thread::sleep_for(std::chrono::seconds(60));
      },
      testing::ExitedWithCode(EXIT_FAILURE), "");
}

}  // namespace
}  // namespace teapot::server
