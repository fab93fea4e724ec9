#include "engine/confidence.h"

#include <gtest/gtest.h>

#include "engine/philox.h"

namespace teapot::engine {
namespace {

TEST(Confidence, BeginsByBelievingTheDraft) {
  const Confidence confidence;
  for (double probability = 0.01; probability < 1; probability += 0.01) EXPECT_NEAR(confidence.chance(probability), probability, 0.051);
  EXPECT_NEAR(confidence.chance(0), 0.025, 1e-9);
  EXPECT_NEAR(confidence.chance(1), 0.985, 1e-9);
}

TEST(Confidence, LearnsHowMuchADraftSaysTooMuch) {
  Confidence confidence;
  for (uint64_t i = 0; i < 20000; ++i) {
    const double probability = uniform(1, i);
    confidence.observe(probability, uniform(2, i) < probability * probability);
  }
  for (const double probability : {0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85}) {
    EXPECT_NEAR(confidence.chance(probability), probability * probability, 0.1);
  }
}

TEST(Confidence, ForgetsWhatNoLongerHolds) {
  Confidence confidence;
  for (int i = 0; i < 5000; ++i) confidence.observe(0.95, true);
  for (int i = 0; i < 600; ++i) confidence.observe(0.95, false);
  EXPECT_LT(confidence.chance(0.95), 0.1);
  EXPECT_NEAR(confidence.chance(0.85), 0.85, 1e-9);
}

TEST(Confidence, ANumberOutsideTheUnitIntervalIsTakenForItsEnd) {
  Confidence confidence;
  confidence.observe(1.0000001, true);
  EXPECT_GT(confidence.chance(1), 0.985);
  EXPECT_EQ(confidence.chance(1.0000001), confidence.chance(1));
}

}  // namespace
}  // namespace teapot::engine
