// The statistics of pairs against the golden values of an independent program, and against what they promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/json.h"
#include "engine/philox.h"
#include "test_data.h"
#include "workbench/pairs/e_process.h"
#include "workbench/pairs/many_races.h"
#include "workbench/pairs/pair_order.h"
#include "workbench/pairs/paired_figures.h"
#include "workbench/pairs/race.h"

namespace teapot::workbench {
namespace {

Json golden() {
  const auto json = read_json_file(testing::test_data("pairs/golden.json"));
  EXPECT_TRUE(json) << json.error().message;
  return json.value_or(Json());
}

// Standard normal numbers, the same in every run.
class Noise {
 public:
  explicit Noise(uint64_t seed) : seed_(seed) {}
  double next() {
    const double radius = std::sqrt(-2 * std::log(1 - engine::uniform(seed_, position_, 0)));
    return radius * std::cos(2 * std::numbers::pi * engine::uniform(seed_, position_++, 1));
  }

 private:
  uint64_t seed_, position_ = 0;
};

TEST(EProcess, EqualsTheGoldenValuesAfterEveryPair) {
  for (const Json& known : golden()["cases"]) {
    EProcess process(1);
    for (size_t i = 0; i < known["d"].size(); ++i) {
      process.add(known["d"][i].get<double>());
      EXPECT_NEAR(process.mean(), known["mean"][i].get<double>(), 1e-12) << known["name"] << ", pair " << i;
      EXPECT_NEAR(process.ln_e(), known["ln_e"][i].get<double>(), 1e-9) << known["name"] << ", pair " << i;
      const double half = process.half_width(0.05);
      if (known["half95"][i].is_null()) {
        EXPECT_TRUE(std::isinf(half)) << known["name"] << ", pair " << i;
      } else {
        EXPECT_NEAR(half, known["half95"][i].get<double>(), 1e-12) << known["name"] << ", pair " << i;
      }
    }
  }
}

TEST(Race, EndsAsTheGoldenOnesDo) {
  for (const Json& known : golden()["cases"]) {
    Race race(RaceRules{});
    for (const Json& d : known["d"]) {
      if (race.add(d.get<double>()) != RaceState::kRunning) break;
    }
    const Json& expected = known["race"];
    EXPECT_EQ(kRaceStateNames[static_cast<size_t>(race.state())], expected["verdict"].get<std::string>()) << known["name"];
    EXPECT_EQ(race.process().pairs(), expected["pairs"].get<uint32_t>()) << known["name"];
    EXPECT_NEAR(race.process().mean(), expected["mean"].get<double>(), 1e-12) << known["name"];
  }
}

TEST(EProcess, IsTheLimitOfItsSequenceWhereItRejects) {
  // At the edge of the 95 % sequence E is 20: a shift of all differences by mean - half makes the edge 0.
  Noise noise(3);
  std::vector<double> differences(12);
  EProcess process;
  for (double& d : differences) process.add(d = 0.02 * noise.next());
  const double edge = process.mean() - process.half_width(0.05);
  EProcess shifted;
  for (const double d : differences) shifted.add(d - edge);
  EXPECT_NEAR(shifted.ln_e(), std::log(20), 1e-9);
  EXPECT_NEAR(shifted.p(), 0.05, 1e-9);
}

TEST(EProcess, NoScaleMatters) {
  Noise noise(4);
  EProcess small, large;
  for (int i = 0; i < 20; ++i) {
    const double d = noise.next();
    small.add(1e-6 * d), large.add(d);
    EXPECT_NEAR(small.ln_e(), large.ln_e(), 1e-9);
  }
}

TEST(EProcess, FiveEqualPairsAreTheFewestThatReject) {
  EProcess process;
  for (int i = 0; i < 4; ++i) process.add(0.1);
  EXPECT_LT(process.ln_e(), std::log(20));
  process.add(0.1);
  EXPECT_GE(process.ln_e(), std::log(20));
  EXPECT_EQ(EProcess().p(), 1);
  EXPECT_EQ(EProcess().ln_e(), 0);
  EXPECT_TRUE(std::isinf(EProcess().half_width(0.05)));
}

// Shares of 4000 runs of up to 64 pairs; the method's own table has .029 for Gaussian noise looked at after each pair.
TEST(EProcess, LookedAtAfterEachPairItRejectsNothingTooOften) {
  constexpr int kRuns = 4000;
  Noise noise(5);
  int rejected = 0, outside = 0;
  for (int run = 0; run < kRuns; ++run) {
    EProcess process;
    bool hit = false, left = false;
    for (int pair = 0; pair < 64; ++pair) {
      process.add(0.02 * noise.next());
      hit |= process.ln_e() >= std::log(20);
      left |= std::abs(process.mean()) > process.half_width(0.05);
    }
    rejected += hit, outside += left;
  }
  EXPECT_LE(rejected, kRuns / 20);
  EXPECT_GE(rejected, kRuns / 100) << "a test that never rejects is none";
  EXPECT_EQ(rejected, outside) << "the sequence leaves 0 out exactly where E rejects";
}

TEST(Race, FindsAnEffectOfOnePairsDeviationInAboutTwelve) {
  constexpr int kRuns = 500;
  Noise noise(6);
  std::vector<uint32_t> pairs;
  for (int run = 0; run < kRuns; ++run) {
    Race race({.null_rule = NullRule::kNever, .cap = 256});
    while (race.add(-0.02 + 0.02 * noise.next()) == RaceState::kRunning) continue;
    EXPECT_EQ(race.state(), RaceState::kWin);
    pairs.push_back(race.process().pairs());
  }
  std::ranges::sort(pairs);
  EXPECT_NEAR(pairs[kRuns / 2], 12, 1.5);
  EXPECT_NEAR(pairs[kRuns * 9 / 10], 22, 3);
}

TEST(Race, ExcludesAGainOfOnePairsDeviationInAboutTen) {
  constexpr int kRuns = 500;
  Noise noise(7);
  std::vector<uint32_t> one_sided, two_sided;
  for (int run = 0; run < kRuns; ++run) {
    Race futile({.e_threshold = 1e300, .cap = 256});
    Race equal({.e_threshold = 1e300, .null_rule = NullRule::kEquivalent, .null_alpha = 0.05, .cap = 256});
    while (equal.state() == RaceState::kRunning || futile.state() == RaceState::kRunning) {
      const double d = 0.01 * noise.next();
      futile.add(d), equal.add(d);
    }
    one_sided.push_back(futile.process().pairs()), two_sided.push_back(equal.process().pairs());
  }
  std::ranges::sort(one_sided), std::ranges::sort(two_sided);
  EXPECT_NEAR(one_sided[kRuns / 2], 10, 1.5);
  EXPECT_NEAR(two_sided[kRuns / 2], 17, 1.5);
}

TEST(Race, ScreenAndCapEndWhatDoesNotLookLikeAGain) {
  Race screened({.null_rule = NullRule::kNever, .screen_after = 3});
  screened.add(0.01), screened.add(-0.02);
  EXPECT_EQ(screened.add(0.012), RaceState::kScreened);
  EXPECT_EQ(screened.add(-1), RaceState::kScreened) << "ended is ended";
  EXPECT_EQ(screened.process().pairs(), 3u);

  Race capped({.null_rule = NullRule::kNever, .screen_after = 3, .cap = 4});
  capped.add(0.01), capped.add(-0.02), capped.add(-0.012);
  EXPECT_EQ(capped.state(), RaceState::kRunning);
  EXPECT_EQ(capped.add(0.03), RaceState::kInconclusive);
}

TEST(PairOrder, EveryBlockOfFourIsBalancedAndAllOrdersOccur) {
  std::vector<int> seen(16);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint32_t block = 0; block < 60; ++block) {
      uint32_t bits = 0;
      for (uint32_t i = 0; i < kOrderBlock; ++i) bits |= uint32_t{b_goes_first(seed, block * kOrderBlock + i)} << i;
      EXPECT_EQ(std::popcount(bits), 2);
      ++seen[bits];
    }
  }
  for (uint32_t bits = 0; bits < 16; ++bits) EXPECT_EQ(seen[bits] > 60, std::popcount(bits) == 2) << bits << ": " << seen[bits];
}

TEST(PairedFigures, KnowsTheTextbooksNumbers) {
  const std::vector<double> d = {0.01, 0.03, -0.01, 0.02, 0.0};
  const PairedFigures figures = PairedFigures::of(d, 0.05);
  EXPECT_EQ(figures.pairs, 5u);
  EXPECT_NEAR(figures.mean, 0.01, 1e-15);
  EXPECT_NEAR(figures.sd, std::sqrt(0.001 / 4), 1e-15);
  EXPECT_NEAR(figures.half_width, 2.7764451051977987 * figures.sd / std::sqrt(5), 1e-12);  // t of 4 degrees of freedom
  EXPECT_NEAR(figures.lag1, (0 + -0.0004 + -0.0002 + -0.0001) / 0.001, 1e-12);
  EXPECT_EQ(PairedFigures::of({}, 0.05).pairs, 0u);
  EXPECT_TRUE(std::isinf(PairedFigures::of(std::vector<double>{0.1}, 0.05).half_width));
  const PairedFigures equal = PairedFigures::of(std::vector<double>(4, 0.5), 0.05);
  EXPECT_EQ(equal.half_width, 0);
  EXPECT_EQ(equal.lag1, 0);
  EXPECT_NEAR(smallest_difference(0.02, 12), 0.02, 1e-15);
  EXPECT_NEAR(smallest_difference(0.02, 48), 0.01, 1e-15);
}

TEST(ManyRaces, EqualTheGoldenChoices) {
  const Json known = golden();
  const auto e = known["e"].get<std::vector<double>>();
  std::vector<double> p;
  for (const double value : e) p.push_back(std::min(1.0, 1 / value));
  EXPECT_EQ(e_bh(e, 0.1), known["e_bh_10"].get<std::vector<size_t>>());
  EXPECT_EQ(holm(p, 0.05), known["holm_05"].get<std::vector<size_t>>());
  EXPECT_TRUE(holm({}, 0.05).empty());
  EXPECT_TRUE(e_bh(std::vector<double>{1, 2}, 0.05).empty());
}

}  // namespace
}  // namespace teapot::workbench
