#include "engine/state_budget.h"

#include <gtest/gtest.h>

#include "cpu/backend.h"
#include "model/model.h"
#include "model/sizes.h"
#include "test_data.h"

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

// inspect reckons without a backend: what it says of speculation is what states grow by, but for alignment.
TEST(StateBudget, SpeculationTakesWhatInspectSays) {
  const auto own_bytes = [](uint32_t drafts) -> uint64_t {
    auto model = model::load_model(testing::demo_model().string());
    EXPECT_TRUE(model);
    EXPECT_TRUE(drafts == 0 || model->speculate(drafts));
    const auto backend = cpu::create_backend({.threads = 1, .bind = "off"});
    EXPECT_TRUE(backend && (*backend)->load(model->weights, model->layout, {}));
    return (*backend)->state_bytes(0);
  };
  const auto model = model::load_model(testing::demo_model().string());
  ASSERT_TRUE(model);
  const uint64_t plain = own_bytes(0), hidden = model::hidden_bytes_per_sequence(model->config);
  for (const uint32_t drafts : {1u, 4u, 8u}) {
    const auto told = static_cast<double>(hidden + model::verify_log_bytes_per_sequence(model->config, drafts));
    EXPECT_NEAR(static_cast<double>(own_bytes(drafts) - plain), told, 0.03 * told) << drafts;
  }
}

}  // namespace
}  // namespace teapot::engine
