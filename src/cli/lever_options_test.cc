#include "cli/lever_options.h"

#include <gtest/gtest.h>

#include "workbench/ladder/order.h"

namespace teapot::cli {
namespace {

TEST(LeverOptions, ALeverTakesWhatItsOptionTakes) {
  ModelOptions options;
  options.model = "m";
  ASSERT_TRUE(set_lever(options, "plan", "eager"));
  ASSERT_TRUE(set_lever(options, "logits-mask", "rebuild"));
  ASSERT_TRUE(set_lever(options, "mtp", "off"));
  EXPECT_EQ(options.engine.backend.plan, "eager");
  EXPECT_EQ(options.engine.scheduler.logits_mask, engine::LogitsMask::kRebuild);
  EXPECT_EQ(options.engine.mtp, 0u);
  ASSERT_TRUE(set_lever(options, "mtp", "auto"));
  EXPECT_FALSE(options.engine.mtp);
  EXPECT_EQ(options.engine.backend.plan, "eager");  // others stay
  EXPECT_EQ(options.model, "m");
}

TEST(LeverOptions, WhatIsNoLeverAndNoValueIsNamed) {
  for (const char* lever : {"nonsense", "help", "verbose", "model"}) {
    const Status set = check_lever(lever, "1");
    ASSERT_FALSE(set) << lever;
    EXPECT_NE(set.error().message.find(fmt::format("'{}' is no lever", lever)), std::string::npos) << set.error().message;
  }
  EXPECT_NE(check_lever("plan", "quick").error().message.find("\"quick\" is none of eager"), std::string::npos);
  EXPECT_NE(check_lever("mtp", "99").error().message.find("99"), std::string::npos);
  EXPECT_NE(check_lever("logits-mask", "x").error().message.find("inline"), std::string::npos);
}

TEST(LeverOptions, TheOrderThatIsBuiltInHasOnlyLevers) {
  const auto order = workbench::default_ladder_order(check_lever);
  EXPECT_TRUE(order) << order.error().message;
}

}  // namespace
}  // namespace teapot::cli
