#include "base/half.h"

#include <cmath>

#include <gtest/gtest.h>

namespace teapot {
namespace {

// The value of an f16 by its definition.
double f16_value(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(Half, EveryF16HasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (((half >> 10) & 31) == 31) {
      EXPECT_EQ((half & 1023) == 0, std::isinf(value));
      EXPECT_EQ((half & 1023) != 0, std::isnan(value));
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), f16_value(half)) << bits;
    ASSERT_EQ(f32_to_f16(value), half);
  }
}

TEST(Half, F16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = f16_value(static_cast<uint16_t>(bits));
    const double high = f16_value(static_cast<uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);  // exact: f32 has 13 bits more
    EXPECT_EQ(f32_to_f16(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(f32_to_f16(std::nextafter(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(f32_to_f16(65519.99f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-INFINITY), 0xfc00);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(NAN))));
}

TEST(Half, Bf16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = bf16_to_f32(static_cast<uint16_t>(bits));
    const float high = bf16_to_f32(static_cast<uint16_t>(bits + 1));
    const float middle = std::bit_cast<float>((std::bit_cast<uint32_t>(low) + std::bit_cast<uint32_t>(high)) / 2);
    EXPECT_EQ(f32_to_bf16(low), bits);
    EXPECT_EQ(f32_to_bf16(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(f32_to_bf16(std::nextafter(middle, INFINITY)), bits + 1);
  }
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(NAN))));
  EXPECT_EQ(f32_to_bf16(INFINITY), 0x7f80);
}

}  // namespace
}  // namespace teapot
