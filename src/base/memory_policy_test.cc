#include "base/memory_policy.h"

#include <gtest/gtest.h>
#include <vector>

namespace teapot {
namespace {

TEST(MemoryPolicy, IsSetAndSetBack) {
  const auto policy = MemoryPolicy::create();
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  if (const Status status = policy->interleave(); !status) GTEST_SKIP() << status.error().message;
  std::vector<char> touched(8 << 20, 1);
  EXPECT_EQ(touched.back(), 1);
  const Status back = policy->local();
  EXPECT_TRUE(back.has_value()) << back.error().message;
}

}  // namespace
}  // namespace teapot
