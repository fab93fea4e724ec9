#include "workbench/trace/decimal.h"

#include <gtest/gtest.h>

namespace teapot::workbench::trace {
namespace {

constexpr int kUs = -6;

int64_t ns(std::string_view text, int exponent = kUs) {
  const auto value = parse_decimal(text, exponent);
  return value ? value->ns : -1;
}

TEST(Decimal, KeepsEveryDigitWhereADoubleCannot) {
  EXPECT_EQ(ns("1764201600766884.541"), 1764201600766884541);
  EXPECT_EQ(ns("1764201600766884.542"), 1764201600766884542);
  EXPECT_EQ(ns("1764201600766938.781\t"), 1764201600766938781);
}

TEST(Decimal, KnowsUnits) {
  EXPECT_EQ(ns("1.5", 0), 1'500'000'000);
  EXPECT_EQ(ns("1.5", -3), 1'500'000);
  EXPECT_EQ(ns("15", -9), 15);
  EXPECT_EQ(ns("1.5", -9), 2);
  EXPECT_EQ(unit_exponent("cycles"), std::nullopt);
}

TEST(Decimal, RoundsBelowANanosecond) {
  EXPECT_EQ(ns("0.0004"), 0);
  EXPECT_EQ(ns("0.0005"), 1);
  EXPECT_EQ(ns("2.50049"), 2500);
  EXPECT_EQ(ns("-0.0015"), -2);
  EXPECT_EQ(ns("1e-05"), 0);
  EXPECT_EQ(ns("6e-4"), 1);
}

TEST(Decimal, SaysWhenAnExponentHidesDigits) {
  EXPECT_TRUE(parse_decimal("1.76420E+15", kUs)->rounded);
  EXPECT_TRUE(parse_decimal("1.764201600766938e15", kUs)->rounded);
  EXPECT_FALSE(parse_decimal("1.764201600766938781e15", kUs)->rounded);
  EXPECT_FALSE(parse_decimal("1764201600000000", kUs)->rounded);
  EXPECT_FALSE(parse_decimal("2.5e-2", kUs)->rounded);
}

TEST(Decimal, RefusesWhatIsNoNumberOrTooLarge) {
  for (const std::string_view text : {"", ".", "-", "1.2.3", "12a", "1e", "1e+", "0x10", "nan", "1 2", "9223372036854775.808", "1e400"}) {
    EXPECT_FALSE(parse_decimal(text, kUs)) << text;
  }
  EXPECT_EQ(ns("0e400"), 0);
  EXPECT_EQ(ns("1e-400"), 0);
}

}  // namespace
}  // namespace teapot::workbench::trace
