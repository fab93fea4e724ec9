#include "engine/context_limit.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

MemoryStatus available(uint64_t bytes) { return {.total_bytes = 64 * kGiB, .available_bytes = bytes, .limited_by = "host"}; }

// 1 MiB a token.
uint64_t state_bytes(uint32_t tokens) { return uint64_t{tokens} << 20; }

TEST(ContextLimit, IsTheModelsWhenItFits) { EXPECT_EQ(context_limit(4096, 0, available(32 * kGiB), state_bytes)->tokens, 4096u); }

TEST(ContextLimit, IsWhatWasAskedForButNeverMoreThanTheModels) {
  EXPECT_EQ(context_limit(4096, 1000, available(32 * kGiB), state_bytes)->tokens, 1000u);
  const auto limited = context_limit(4096, 10000, available(32 * kGiB), state_bytes);
  EXPECT_EQ(limited->tokens, 4096u);
  EXPECT_NE(limited->reason.find("10000"), std::string::npos);
}

TEST(ContextLimit, IsTheMostThatFitsWithAMargin) {
  const auto limit = context_limit(262144, 0, available(10 * kGiB), state_bytes);
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->tokens, 9 * 1024u);  // a tenth is left alone
}

TEST(ContextLimit, RefusesWhatMemoryDoesNotHold) {
  const auto limit = context_limit(262144, 100000, available(kGiB), state_bytes);
  ASSERT_FALSE(limit);
  EXPECT_EQ(limit.error().kind, ErrorKind::kMemory);
  EXPECT_NE(limit.error().message.find("100000"), std::string::npos);
  EXPECT_FALSE(context_limit(262144, 0, available(kGiB / 8), state_bytes));
}

}  // namespace
}  // namespace teapot::engine
