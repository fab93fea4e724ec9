#include "cli/share.h"

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

TEST(Share, IsANumberOrPercent) {
  EXPECT_DOUBLE_EQ(parse_share("--x", "1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("--x", "0.01").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("--x", "0").value(), 0);
  EXPECT_DOUBLE_EQ(parse_share("--x", "1000%").value(), 10);
}

TEST(Share, WhatIsNoneIsNamed) {
  for (const char* text : {"nan", "inf", "-inf", "nan%", "-5%", "-0.01", "1e9", "1001%", "", "%", "5 %%", "half"}) {
    const auto share = parse_share("--max-ttft-harm", text);
    ASSERT_FALSE(share) << text;
    EXPECT_EQ(share.error().message, fmt::format("--max-ttft-harm: found '{}'; expected a share from 0 to 10, like 1% or 0.01", text));
  }
}

}  // namespace
}  // namespace teapot::cli
