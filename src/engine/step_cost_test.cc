#include "engine/step_cost.h"

#include <gtest/gtest.h>

#include <limits>

namespace teapot::engine {
namespace {

// 20 ms, and 0.5 ms more for each row.
double truth(uint32_t rows) { return 20 + 0.5 * rows; }

StepCost measured(uint32_t up_to = 520) {
  StepCost cost(520);
  for (const uint32_t rows : cost.nodes()) {
    if (rows <= up_to) cost.observe(rows, truth(rows));
  }
  return cost;
}

TEST(StepCost, NodesAreThePowersOfTwoAndTheLast) {
  EXPECT_EQ(StepCost(8).nodes(), (std::vector<uint32_t>{1, 2, 4, 8}));
  EXPECT_EQ(StepCost(520).nodes().back(), 520u);
  EXPECT_EQ(StepCost(1).nodes(), (std::vector<uint32_t>{1}));
}

TEST(StepCost, IsALineBetweenWhatWasMeasured) {
  const StepCost cost = measured();
  for (uint32_t rows = 1; rows <= 520; ++rows) EXPECT_NEAR(cost.ms(rows), truth(rows), 1e-9);
}

TEST(StepCost, GoesOnAlongTheLastLine) {
  const StepCost cost = measured(64);
  for (const uint32_t rows : {65u, 100u, 512u}) EXPECT_NEAR(cost.ms(rows), truth(rows), 1e-9);
}

TEST(StepCost, OneFigureAlone) {
  StepCost cost(100);
  EXPECT_EQ(cost.ms(7), 0);
  cost.observe(1, 5);
  EXPECT_EQ(cost.ms(1), 5);
  EXPECT_GE(cost.ms(50), 5);
}

TEST(StepCost, RowsWithinKeepTheLimit) {
  const StepCost cost = measured(64);
  for (const double stretch : {1.25, 1.5, 2.0, 2.5, 4.0}) {
    for (uint32_t decode = 1; decode <= 8; ++decode) {
      const uint32_t rows = cost.rows_within(decode, stretch, 512);
      EXPECT_LE(cost.ms(decode + rows), stretch * cost.ms(decode));
      EXPECT_GT(cost.ms(decode + rows + 1), stretch * cost.ms(decode));
    }
  }
}

TEST(StepCost, SomeRowIsAlwaysRead) {
  EXPECT_EQ(measured().rows_within(8, 1.0001, 512), 1u);
  EXPECT_EQ(measured().rows_within(8, 1.0001, 0), 0u);
}

TEST(StepCost, WithoutALimitAllRowsAreTaken) {
  EXPECT_EQ(measured().rows_within(8, std::numeric_limits<double>::infinity(), 512), 512u);
  EXPECT_EQ(measured().rows_within(0, 2, 512), 512u);
}

TEST(StepCost, FollowsWhatSteps) {
  StepCost cost = measured(64);
  for (int i = 0; i < 40; ++i) {
    for (const uint32_t rows : {4u, 37u, 90u, 300u}) cost.observe(rows, 2 * truth(rows));
  }
  for (const uint32_t rows : {4u, 37u, 90u, 300u}) EXPECT_NEAR(cost.ms(rows), 2 * truth(rows), 0.1 * truth(rows));
}

TEST(StepCost, ASingleSlowStepMovesLittle) {
  StepCost cost = measured();
  cost.observe(8, 100 * truth(8));
  EXPECT_LT(cost.ms(8), 1.3 * truth(8));
}

}  // namespace
}  // namespace teapot::engine
