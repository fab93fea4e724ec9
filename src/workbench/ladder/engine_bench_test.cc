// Real engines on the demo model. Times are the host's: nothing is said of them.
#include "workbench/ladder/engine_bench.h"

#include <gtest/gtest.h>

#include "test_data.h"

namespace teapot::workbench {
namespace {

class EngineBenchTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<EngineBench>> open() {
    options_.model = teapot::testing::demo_model().string();
    options_.concurrency = {1, 2};
    options_.prompt = 8;
    options_.gen = 8;
    options_.engine_options = [](const LeverSetting& setting) -> Result<engine::EngineOptions> {
      engine::EngineOptions engine{.backend = {.threads = 1, .bind = "off"}, .warmup = 0, .mtp = 0};
      for (const auto& [lever, value] : setting) {
        if (lever == "plan") engine.backend.plan = value;
        if (lever == "pages") engine.backend.pages = value;
        if (lever == "draft-vocab") engine.draft_vocab = value == "full" ? std::optional<uint32_t>(0) : std::nullopt;
        if (lever == "mtp") engine.mtp = value == "auto" ? std::nullopt : std::optional<uint32_t>(value == "off" ? 0 : std::stoul(value));
      }
      return engine;
    };
    return EngineBench::open(options_, order_);
  }

  static LadderRace race(const std::string& lever, const std::string& from, const std::string& to, LeverSetting more = {}) {
    LadderRace race{.kind = LadderKind::kClimb, .name = lever, .lever = lever, .from = from, .to = to, .place = "o.yaml:1"};
    race.a = race.b = std::move(more);
    race.a.emplace_back(lever, from);
    race.b.emplace_back(lever, to);
    return race;
  }

  EngineBenchOptions options_;
  LadderOrder order_;
};

TEST_F(EngineBenchTest, BothWaysOfLoadingGiveTheSameTokens) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  std::vector<uint64_t> hashes;
  for (const bool reload : {false, true}) {
    options_.reload = reload;
    const auto bench = open();
    ASSERT_TRUE(bench) << bench.error().message;
    EXPECT_NE((*bench)->both_at_once(), reload) << (*bench)->way();
    const auto start = (*bench)->begin(race("plan", "eager", "static"));
    ASSERT_TRUE(start) << start.error().message;
    EXPECT_FALSE(start->refused);
    EXPECT_EQ(start->active, "static");
    for (const bool b : {true, false, false, true}) {
      const auto turns = (*bench)->run(b);
      ASSERT_TRUE(turns) << turns.error().message;
      ASSERT_EQ(turns->size(), 2u);
      for (const LadderTurn& turn : *turns) {
        EXPECT_GT(turn.tpot_ms, 0);
        hashes.push_back(turn.hash);
      }
    }
  }
  for (size_t i = 2; i < hashes.size(); ++i) EXPECT_EQ(hashes[i], hashes[i % 2]);
  EXPECT_NE(hashes[0], hashes[1]);
}

TEST_F(EngineBenchTest, LoadsAsTheLadderWasBegun) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  options_.both_at_once = false;
  const auto bench = open();
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_FALSE((*bench)->both_at_once());
  EXPECT_NE((*bench)->way().find("as the ladder was begun"), std::string::npos) << (*bench)->way();
}

TEST_F(EngineBenchTest, WhatTheHostOrTheModelCannotHaveIsRefusedWithItsReason) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  const auto bench = open();
  ASSERT_TRUE(bench) << bench.error().message;
  const auto unsupported = (*bench)->begin(race("plan", "static", "quick"));
  ASSERT_TRUE(unsupported) << unsupported.error().message;
  EXPECT_NE(unsupported->refused.value_or("").find("plan: \"quick\""), std::string::npos);
  const auto pages = (*bench)->begin(race("pages", "4k", "1g"));  // few hosts have them
  ASSERT_TRUE(pages) << pages.error().message;
  EXPECT_TRUE(pages->active == "1g" || pages->refused.value_or("").find("1g") != std::string::npos);
  const auto inert = (*bench)->begin(race("draft-vocab", "full", "auto", {{"mtp", "off"}}));
  ASSERT_TRUE(inert) << inert.error().message;
  EXPECT_NE(inert->refused.value_or("").find("full was asked for, active is off; there are no drafts"), std::string::npos)
      << inert->refused.value_or("");
  const auto unknown = (*bench)->begin(race("ctx", "1", "2"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "o.yaml:1: 'ctx' is no lever; expected one of those of `teapot levers`");
}

TEST_F(EngineBenchTest, ForcedDraftsChangeNoTokenInOneEngineOrTwo) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  options_.accept_rates = {{0.9, 0.5}};
  const auto bench = open();
  ASSERT_TRUE(bench) << bench.error().message;
  std::vector<uint64_t> hashes;
  LadderRace deeper = race("mtp", "1", "2");
  deeper.reload = false;
  for (const LadderRace& next : {race("mtp", "off", "1"), deeper}) {
    const auto start = (*bench)->begin(next);
    ASSERT_TRUE(start) << start.error().message;
    EXPECT_FALSE(start->refused) << *start->refused;
    for (const bool b : {false, true}) {
      const auto turns = (*bench)->run(b);
      ASSERT_TRUE(turns) << turns.error().message;
      for (const LadderTurn& turn : *turns) hashes.push_back(turn.hash);
    }
  }
  for (size_t i = 2; i < hashes.size(); ++i) EXPECT_EQ(hashes[i], hashes[i % 2]);
}

}  // namespace
}  // namespace teapot::workbench
