#include "workbench/draft_speed.h"

#include <gtest/gtest.h>

#include "test_data.h"

namespace teapot::workbench {
namespace {

Result<DraftSpeeds> measure(const DraftSpeedOptions& options) {
  const engine::EngineOptions engine{.backend = {.threads = 1, .bind = "off"}, .warmup = 0};
  return measure_draft_speed(teapot::testing::demo_model().string(), engine, options, {}, [](const std::string&) {});
}

TEST(DraftSpeed, ForcedDraftsHoldAtTheirRateAndChangeNoReply) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  const auto all = measure({.concurrency = {1, 2}, .settings = {2u}, .accept_rates = {{1, 0}}, .prompt = 8, .gen = 21, .repeat = 2});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->speeds.size(), 4u);  // with 0 drafts and with 2, for each concurrency
  for (const DraftSpeed& speed : all->speeds) {
    EXPECT_TRUE(speed.equal);
    EXPECT_EQ(speed.plan_misses, 0u);
    EXPECT_GT(speed.tpot_ms.min, 0);
    EXPECT_GT(speed.gain.min, 0);
    EXPECT_EQ(speed.drafts.accepted[0], speed.drafts.drafted[0]);
    EXPECT_EQ(speed.drafts.accepted[1], 0u);
    EXPECT_EQ(speed.drafts.rounds > 0, speed.setting != 0u);
    EXPECT_EQ(speed.replay_ms > 0, speed.setting != 0u);
  }
}

TEST(DraftSpeed, ShortRepliesBesideALongPromptHaveTheirTimes) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  std::vector<int32_t> longest(600, 5);
  const auto all = measure({.concurrency = {2}, .settings = {1u}, .gen = 2, .repeat = 1, .prompts = {{7, 8}, longest}});
  ASSERT_TRUE(all) << all.error().message;
  for (const DraftSpeed& speed : all->speeds) EXPECT_GT(speed.tpot_ms.min, 0);
}

}  // namespace
}  // namespace teapot::workbench
