#include "engine/context_limit.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// 1 MiB a token.
uint64_t state_bytes(uint32_t tokens) { return uint64_t{tokens} << 20; }

TEST(ContextLimit, IsTheModelsWhenItFits) { EXPECT_EQ(context_limit(4096, 0, 32 * kGiB, 8, state_bytes)->tokens, 4096u); }

TEST(ContextLimit, IsWhatWasAskedForButNeverMoreThanTheModels) {
  EXPECT_EQ(context_limit(4096, 1000, 32 * kGiB, 1, state_bytes)->tokens, 1000u);
  const auto limited = context_limit(4096, 10000, 32 * kGiB, 1, state_bytes);
  EXPECT_EQ(limited->tokens, 4096u);
  EXPECT_NE(limited->reason.find("10000"), std::string::npos);
}

TEST(ContextLimit, IsTheMostThatFitsForAllAtATime) {
  EXPECT_EQ(context_limit(262144, 0, 9 * kGiB, 1, state_bytes)->tokens, 9 * 1024u);
  EXPECT_EQ(context_limit(262144, 0, 9 * kGiB, 8, state_bytes)->tokens, 9 * 128u);
}

TEST(ContextLimit, WhatWasAskedForNeedFitOnceOnly) { EXPECT_EQ(context_limit(262144, 9000, 9 * kGiB, 8, state_bytes)->tokens, 9000u); }

TEST(ContextLimit, RefusesWhatMemoryDoesNotHold) {
  const auto limit = context_limit(262144, 100000, kGiB, 1, state_bytes);
  ASSERT_FALSE(limit);
  EXPECT_EQ(limit.error().kind, ErrorKind::kMemory);
  EXPECT_NE(limit.error().message.find("100000"), std::string::npos);
  EXPECT_FALSE(context_limit(262144, 0, 1 << 20, 1, state_bytes));
}

}  // namespace
}  // namespace teapot::engine
