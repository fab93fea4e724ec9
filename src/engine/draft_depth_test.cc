#include "engine/draft_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/draft_simulation.h"

namespace teapot::engine {
namespace {

using Depths = std::vector<uint32_t>;

DraftChances flat(double chance) {
  DraftChances out;
  out.fill(chance);
  return out;
}

DraftingSequence drafts(uint32_t limit, double chance, bool lags = false) { return {limit, lags, flat(chance)}; }

Depths choose(DraftDepth& depth, const std::vector<DraftingSequence>& sequences, uint32_t more_rows = 0, double catch_up_ms = 0) {
  const auto chosen = depth.choose(sequences, static_cast<uint32_t>(sequences.size()) + more_rows, catch_up_ms);
  return {chosen.begin(), chosen.end()};
}

const SimulatedCosts kOne(1, [](uint32_t rows) { return 12.5 + 2.5 * rows; }, [](uint32_t) { return 1.6; });
const SimulatedCosts kFour(4, [](uint32_t rows) { return 15.2 + 2.2 * rows; }, [](uint32_t rows) { return 1.2 + 0.45 * rows; });
const SimulatedCosts kEight(8, [](uint32_t rows) { return 15.2 + 2.2 * rows; }, [](uint32_t rows) { return 1.2 + 0.45 * rows; });

TEST(DraftDepth, IsDeeperTheSurerDraftsAre) {
  DraftDepth depth(kOne.step, kOne.draft, 1);
  EXPECT_EQ(choose(depth, {drafts(8, 0.05)}), Depths{0});
  EXPECT_EQ(choose(depth, {drafts(8, 0.5)}), Depths{1});
  EXPECT_EQ(choose(depth, {drafts(8, 0.999)}), Depths{8});
  Depths last = {0};
  for (double chance = 0.01; chance < 1; chance += 0.01) {
    const Depths now = choose(depth, {drafts(8, chance)});
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(DraftDepth, IsTheBestOfAllForOneSequence) {
  DraftDepth depth(kOne.step, kOne.draft, 1);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    DraftingSequence one = {.limit = 8, .lags = false, .chances = {}};
    for (uint32_t j = 0; j < kMaxDrafts; ++j) one.chances[j] = uniform(seed, j);
    double tokens = 1, chance = 1, best = 1.04 / kOne.step.ms(1);
    uint32_t best_depth = 0;
    for (uint32_t j = 1; j <= kMaxDrafts; ++j) {
      tokens += chance *= one.chances[j - 1];
      if (const double rate = tokens / (kOne.step.ms(1 + j) + 1.6 * j); rate > best) {
        best = rate;
        best_depth = j;
      }
    }
    EXPECT_EQ(choose(depth, {one}), Depths{best_depth});
  }
}

TEST(DraftDepth, KeepsTheLimits) {
  DraftDepth depth(kFour.step, kFour.draft, 4);
  EXPECT_EQ(choose(depth, {drafts(0, 0.99), drafts(1, 0.99), drafts(2, 0.99), drafts(3, 0.99)}), (Depths{0, 1, 2, 3}));
  EXPECT_EQ(choose(depth, {drafts(0, 0.99)}), Depths{0});
  EXPECT_EQ(choose(depth, {}, 5), Depths{});
}

TEST(DraftDepth, OnlyThoseDraftWhoseDraftsHold) {
  DraftDepth depth(kFour.step, kFour.draft, 4);
  const Depths chosen = choose(depth, {drafts(4, 0.95), drafts(4, 0.1), drafts(4, 0.95), drafts(4, 0.0)});
  EXPECT_GE(chosen[0], 2u);
  EXPECT_EQ(chosen[1], 0u);
  EXPECT_EQ(chosen[2], chosen[0]);
  EXPECT_EQ(chosen[3], 0u);
}

TEST(DraftDepth, ASmallGainIsNone) {
  DraftDepth depth(kOne.step, kOne.draft, 1);
  const double even = (kOne.step.ms(2) + 1.6) / kOne.step.ms(1) - 1;
  EXPECT_EQ(choose(depth, {drafts(1, even + 0.05)}), Depths{0});
  EXPECT_EQ(choose(depth, {drafts(1, even + 0.052)}), Depths{1});
}

TEST(DraftDepth, CatchingUpMustPayToo) {
  DraftDepth depth(kOne.step, kOne.draft, 1);
  EXPECT_EQ(choose(depth, {drafts(1, 0.5, true)}, 0, 0), Depths{1});
  EXPECT_EQ(choose(depth, {drafts(1, 0.5, true)}, 0, 5), Depths{0});
  EXPECT_EQ(choose(depth, {drafts(1, 0.5, false)}, 0, 5), Depths{1});
}

TEST(DraftDepth, SeveralShareWhatOneCouldNotPay) {
  StepCost draft(4);
  for (const uint32_t rows : draft.nodes()) draft.observe(rows, 6);
  DraftDepth depth(kFour.step, draft, 4);
  EXPECT_EQ(choose(depth, {drafts(1, 0.8), drafts(0, 0), drafts(0, 0), drafts(0, 0)}), (Depths{0, 0, 0, 0}));
  EXPECT_EQ(choose(depth, {drafts(1, 0.8), drafts(1, 0.8), drafts(1, 0.8), drafts(1, 0.8)}), (Depths{1, 1, 1, 1}));
}

TEST(DraftDepth, WithoutFiguresNobodyDrafts) {
  const StepCost unknown(9);
  DraftDepth depth(unknown, unknown, 1);
  EXPECT_EQ(choose(depth, {drafts(8, 0.99)}), Depths{0});
}

TEST(DraftDepth, AChainEndsWhereTheNextDraftDoesNotPay) {
  DraftDepth depth(kOne.step, kOne.draft, 1);
  ASSERT_GE(choose(depth, {drafts(4, 0.9)})[0], 3u);
  const double rate = (1 + 0.9 + 0.81 + 0.729 + 0.6561) / (kOne.step.ms(5) + 4 * 1.6);
  EXPECT_TRUE(depth.next_pays(rate * (1.6 + 2.5) + 0.001, 1, 2));
  EXPECT_FALSE(depth.next_pays(rate * (1.6 + 2.5) - 0.001, 1, 2));
  EXPECT_TRUE(depth.row_pays(rate * 2.5 + 0.001, 2));
  EXPECT_FALSE(depth.row_pays(rate * 2.5 - 0.001, 2));
}

TEST(DraftDepthSimulation, DraftsThatNeverHoldCostOnePercent) {
  const SimulatedCosts costs(1, [](uint32_t rows) { return 8 + 2 * rows; }, [](uint32_t) { return 2; });
  const auto never = [](uint32_t, uint32_t) { return 0.0; };
  ASSERT_NEAR(simulate(costs, never, 512, 0, 1), 1.4 * costs.step.ms(1), 1e-9);
  EXPECT_LE(simulate(costs, never, 512, 0), 1.01 * costs.step.ms(1));
}

struct Scene {
  std::string name;
  uint32_t tokens;
  SimulatedChance chance;
};

TEST(DraftDepthSimulation, AutoIsNearTheBestDepthAndNoSlowerThanNone) {
  const std::vector<Scene> scenes = {
      {"falling", 512, [](uint32_t position, uint32_t) { return 0.95 - 0.1 * position; }},
      {"never", 512, [](uint32_t, uint32_t) { return 0.0; }},
      {"half", 512, [](uint32_t, uint32_t) { return 0.5; }},
      {"to worse", 1024, [](uint32_t, uint32_t token) { return token < 512 ? 0.9 : 0.1; }},
      {"to better", 1024, [](uint32_t, uint32_t token) { return token < 512 ? 0.1 : 0.9; }},
  };
  for (const SimulatedCosts* costs : {&kOne, &kFour, &kEight}) {
    for (const Scene& scene : scenes) {
      const auto mean = [&](std::optional<uint32_t> fixed) {
        constexpr uint64_t kRuns = 8;
        double sum = 0;
        for (uint64_t seed = 0; seed < kRuns; ++seed) sum += simulate(*costs, scene.chance, scene.tokens, seed, fixed);
        return sum / kRuns;
      };
      const double chosen = mean({}), plain = mean(0);
      double best = plain;
      for (uint32_t k = 1; k <= 4; ++k) best = std::min(best, mean(k));
      SCOPED_TRACE(scene.name + ", " + std::to_string(costs->sequences) + " sequences");
      EXPECT_LE(chosen, best / 0.95);
      EXPECT_LE(chosen, plain / 0.99);
    }
  }
}

// A host that gives more and less by turns, as a shared one does.
TEST(DraftDepthSimulation, AHostThatChangesTakesLittleOfTheGain) {
  const auto paid = [](uint32_t position, uint32_t) { return 0.95 - 0.1 * position; };
  const auto never = [](uint32_t, uint32_t) { return 0.0; };
  for (const SimulatedCosts* costs : {&kOne, &kFour, &kEight}) {
    for (const double turn_ms : {400, 2000, 9000}) {
      const auto mean = [&](const SimulatedChance& chance, std::optional<uint32_t> fixed) {
        constexpr uint64_t kRuns = 4;
        double sum = 0;
        for (uint64_t seed = 0; seed < kRuns; ++seed) {
          const auto host = [&](double ms) { return uniform(seed, static_cast<uint64_t>(ms / turn_ms), 7) < 0.5 ? 1.0 : 1.4; };
          sum += simulate(*costs, chance, 512, seed, fixed, host);
        }
        return sum / kRuns;
      };
      const double plain = mean(paid, 0), chosen = mean(paid, {});
      double best = plain;
      for (uint32_t k = 1; k <= 4; ++k) best = std::min(best, mean(paid, k));
      SCOPED_TRACE(std::to_string(costs->sequences) + " sequences, turns of " + std::to_string(turn_ms) + " ms");
      GTEST_LOG_(INFO) << costs->sequences << " sequences, turns of " << turn_ms << " ms: plain / best " << plain / best
                       << ", plain / auto " << plain / chosen;
      EXPECT_LE(chosen, best / 0.93);
      EXPECT_LE(mean(never, {}), mean(never, 0) / 0.98);
    }
  }
}

}  // namespace
}  // namespace teapot::engine
