#include "cli/progress.h"

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

TEST(Progress, ShowsBytesRateAndTimeLeft) {
  EXPECT_EQ(progress_line(1'500'000'000, 3'000'000'000, 1.5), "[###############...............]  1.50 of 3.00 GB, 1.00 GB/s, 2 s left");
}

TEST(Progress, HasNoRateBeforeTheFirstByteAndNoDivisionByZero) {
  EXPECT_EQ(progress_line(0, 3'000'000'000, 1), "[..............................]  0.00 of 3.00 GB");
  EXPECT_EQ(progress_line(0, 0, 0), "[##############################]  0.00 of 0.00 GB");
}

}  // namespace
}  // namespace teapot::cli
