#include "engine/state_budget.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

MemoryStatus available(uint64_t bytes) { return {.total_bytes = 64 * kGiB, .available_bytes = bytes, .limited_by = "host"}; }

TEST(StateBudget, AQuarterKeepsPrefixesAndATenthIsLeftAlone) {
  const auto budget = state_budget(available(20 * kGiB), true, {});
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->cache, 5 * kGiB);
  EXPECT_EQ(budget->running, 13 * kGiB);
}

TEST(StateBudget, WithoutACacheAllIsForRunningSequences) {
  const auto budget = state_budget(available(20 * kGiB), false, {});
  EXPECT_EQ(budget->cache, 0u);
  EXPECT_EQ(budget->running, 18 * kGiB);
}

TEST(StateBudget, TakesWhatWasAskedFor) {
  const auto budget = state_budget(available(20 * kGiB), true, 7 * kGiB);
  EXPECT_EQ(budget->cache, 7 * kGiB);
  EXPECT_EQ(budget->running, 11 * kGiB);
  EXPECT_EQ(state_budget(available(20 * kGiB), true, 0)->cache, 0u);
}

TEST(StateBudget, RefusesWhatIsNotThere) {
  const auto budget = state_budget(available(20 * kGiB), true, 19 * kGiB);
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().kind, ErrorKind::kMemory);
  EXPECT_NE(budget.error().message.find(std::to_string(19 * kGiB)), std::string::npos);
}

TEST(StateBudget, LittleMemoryIsNotOverdrawn) {
  const auto budget = state_budget(available(kGiB / 8), true, {});
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->running + budget->cache, 0u);
}

}  // namespace
}  // namespace teapot::engine
