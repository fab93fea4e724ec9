#include "engine/acceptance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/philox.h"

namespace teapot::engine {
namespace {

// Rounds of one draft that holds with this chance.
class Rounds {
 public:
  explicit Rounds(uint64_t seed) : seed_(seed) {}

  void run(Acceptance& acceptance, double chance, int rounds) {
    for (int i = 0; i < rounds; ++i) acceptance.observe(1, uniform(seed_, position_++) < chance ? 1 : 0);
  }

 private:
  uint64_t seed_, position_ = 0;
};

// Rounds of one draft until `done`, in the middle of many runs.
template <typename Done>
int median_rounds(double before, double after, Done done) {
  std::vector<int> all;
  for (uint64_t seed = 0; seed < 201; ++seed) {
    Acceptance shared;
    Acceptance acceptance(&shared);
    Rounds rounds(seed);
    rounds.run(acceptance, before, 200);
    int count = 0;
    for (; !done(acceptance.of(1)); ++count) rounds.run(acceptance, after, 1);
    all.push_back(count);
  }
  std::ranges::nth_element(all, all.begin() + 100);
  return all[100];
}

TEST(Acceptance, WithoutAnyRoundDraftsAreThoughtToHold) {
  Acceptance shared;
  const Acceptance acceptance(&shared);
  EXPECT_NEAR(acceptance.of(1), 0.7, 1e-9);
  EXPECT_NEAR(acceptance.of(kMaxDrafts), 0.7, 1e-9);
}

TEST(Acceptance, IsWhatRoundsShow) {
  for (const double chance : {0.0, 0.2, 0.5, 0.8, 1.0}) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      Acceptance shared;
      Acceptance acceptance(&shared);
      Rounds(seed).run(acceptance, chance, 100);
      EXPECT_NEAR(acceptance.of(1), chance, 0.4);
      sum += acceptance.of(1);
    }
    EXPECT_NEAR(sum / 100, chance, 0.03);
  }
}

TEST(Acceptance, CountsWhatWasReachedOnly) {
  Acceptance shared;
  Acceptance acceptance(&shared);
  for (int i = 0; i < 100; ++i) acceptance.observe(3, i % 2 == 0 ? 3 : 1);
  EXPECT_NEAR(acceptance.of(1), 0.99, 0.02);
  EXPECT_NEAR(acceptance.of(2), 0.5, 0.1);
  EXPECT_NEAR(acceptance.of(3), 0.99, 0.02);
  EXPECT_NEAR(shared.of(2), 0.5, 0.05);
}

TEST(Acceptance, ARoundWithoutDraftsSaysNothing) {
  Acceptance shared;
  Acceptance acceptance(&shared);
  acceptance.observe(4, 2);
  const DraftChances before = acceptance.chances();
  acceptance.observe(0, 0);
  EXPECT_EQ(acceptance.chances(), before);
}

TEST(Acceptance, AFallIsSeenInEightRounds) {
  EXPECT_LE(median_rounds(0.9, 0.1, [](double chance) { return chance < 0.45; }), 8);
}

TEST(Acceptance, ARiseIsSeenInTwelveRounds) {
  EXPECT_LE(median_rounds(0.1, 0.9, [](double chance) { return chance > 0.6; }), 12);
}

TEST(Acceptance, ASequenceBeginsWithWhatIsKnownOfAll) {
  Acceptance shared;
  Acceptance first(&shared);
  for (int i = 0; i < 300; ++i) first.observe(2, i % 10 == 0 ? 1 : 2);
  const Acceptance next(&shared);
  EXPECT_GT(next.of(1), 0.95);
  EXPECT_NEAR(next.of(2), 0.9, 0.03);
}

TEST(Acceptance, FewRoundsOverruleWhatIsKnownOfAll) {
  Acceptance shared;
  Acceptance first(&shared);
  for (int i = 0; i < 1000; ++i) first.observe(1, 1);
  Acceptance next(&shared);
  for (int i = 0; i < 6; ++i) next.observe(1, 0);
  EXPECT_LT(next.of(1), 0.4);
}

TEST(Acceptance, APositionNeverReachedFollowsTheOneBeforeIt) {
  Acceptance shared;
  Acceptance first(&shared);
  for (int i = 0; i < 1000; ++i) first.observe(2, i % 2 == 0 ? 2 : 1);  // the second is half of the first
  Acceptance next(&shared);
  for (int i = 0; i < 50; ++i) next.observe(1, i % 2);
  EXPECT_NEAR(next.of(1), 0.5, 0.1);
  EXPECT_NEAR(next.of(2), next.of(1) * shared.of(2) / shared.of(1), 1e-9);
  EXPECT_LT(next.of(2), 0.4);
}

TEST(Acceptance, APositionNoLongerReachedIsForgotten) {
  Acceptance shared;
  Acceptance acceptance(&shared);
  for (int i = 0; i < 8; ++i) acceptance.observe(2, 1);
  EXPECT_LT(acceptance.of(2), 0.4);
  Acceptance others(&shared);
  for (int i = 0; i < 1000; ++i) others.observe(2, 2);
  for (int i = 0; i < 64; ++i) acceptance.observe(1, 1);
  EXPECT_GT(acceptance.of(2), 0.7);
}

}  // namespace
}  // namespace teapot::engine
