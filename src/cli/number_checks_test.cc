#include "cli/number_checks.h"

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

TEST(NumberChecks, SayWhatIsExpectedWithoutTheLargestNumber) {
  for (const char* text : {"0", "-3", "nan", "inf", "x", ""}) {
    const std::string bad = text;
    EXPECT_EQ(std::string(kPositive(bad)), bad + ": expected a number above 0");
  }
  for (const char* text : {"1", "0.5", "1e300"}) EXPECT_EQ(std::string(kPositive(std::string(text))), "") << text;
  EXPECT_EQ(std::string(kNotNegative(std::string("-1"))), "-1: expected a number, 0 or above");
  EXPECT_EQ(std::string(kNotNegative(std::string("0"))), "");
}

}  // namespace
}  // namespace teapot::cli
