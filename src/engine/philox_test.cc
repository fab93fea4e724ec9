#include "engine/philox.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

// The known answers published with the generator.
TEST(Philox, KnownAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformFillsTheUnitInterval) {
  double sum = 0, least = 1, most = 0;
  for (uint64_t position = 0; position < 10000; ++position) {
    const double u = uniform(42, position);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    least = std::min(least, u);
    most = std::max(most, u);
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
  EXPECT_LT(least, 0.001);
  EXPECT_GT(most, 0.999);
}

TEST(Philox, SeedPositionAndChoiceMatter) {
  EXPECT_NE(uniform(1, 0), uniform(2, 0));
  EXPECT_NE(uniform(1, 0), uniform(1, 1));
  EXPECT_NE(uniform(1, 0), uniform(uint64_t{1} << 32, 0));
  EXPECT_NE(uniform(1, 0), uniform(1, 0, 1));
  EXPECT_NE(uniform(1, 0, 1), uniform(1, 1, 0));
  EXPECT_EQ(uniform(7, 9, 0), uniform(7, 9));
  EXPECT_EQ(uniform(7, 9, 3), uniform(7, 9, 3));
}

}  // namespace
}  // namespace teapot::engine
