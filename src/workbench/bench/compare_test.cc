// Comparisons of simulated servers: known truth, seeded noise, no time passes.
#include "workbench/bench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/philox.h"

namespace teapot::workbench {
namespace {

double normal(uint64_t seed, uint64_t position) {
  const double radius = std::sqrt(-2 * std::log(1 - engine::uniform(seed, position, 0)));
  return radius * std::cos(2 * std::numbers::pi * engine::uniform(seed, position, 1));
}

// Two servers whose turns have noise of their own. The pair's deviation is sqrt(2) times that of a turn.
struct Servers {
  uint64_t seed = 1;
  double b_slower = 0;  // share
  double pair_sd = 0.02;
  double drift = 0;  // share a turn, both servers
  bool b_writes_other = false;
  int turns = 0;
  std::vector<Turn> seen = {};

  TurnFigures run(const Turn& turn) {
    seen.push_back(turn);
    const double base = 10 * (1 + turn.load), truth = turn.b && !turn.null ? base * (1 + b_slower) : base;
    const double noise = pair_sd / std::numbers::sqrt2 * normal(seed, static_cast<uint64_t>(turns));
    TurnFigures figures;
    figures.tpot_ms = truth * std::exp(noise) * (1 + drift * turns++);
    figures.ttft_ms = 50 * figures.tpot_ms;
    figures.requests = 2;
    figures.completion_tokens = 16;
    figures.replies = {"equal", turn.b && !turn.null && b_writes_other ? "hällo ä" : "hällo ö"};
    return figures;
  }

  CompareHooks hooks() {
    CompareHooks hooks;
    hooks.run = [this](const Turn& turn) -> Result<TurnFigures> { return run(turn); };
    return hooks;
  }
};

Comparison compare(Servers servers, CompareOptions options, std::vector<PairRecord> pairs = {}) {
  options.seed = servers.seed;
  auto found = run_compare(options, servers.hooks(), pairs);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(Comparison{});
}

TEST(Compare, TheSameServerTwiceIsCalledDifferentInAtMostOneOfTwentyRuns) {
  int different = 0, equal = 0, stopped = 0;
  for (uint64_t run = 0; run < 100; ++run) {
    const Comparison found = compare({.seed = 1000 + run, .pair_sd = 0.02}, {});
    different += found.verdict == Verdict::kBetter || found.verdict == Verdict::kWorse;
    equal += found.verdict == Verdict::kNoDifference;
    stopped += found.end == CompareEnd::kNullDiffers;
  }
  EXPECT_LE(different, 5);
  EXPECT_LE(stopped, 5);
  EXPECT_GE(equal, 25) << "60 pairs exclude 1 % about as often as not";
}

TEST(Compare, AServerSlowedByTwoPercentIsFoundWithinSixtyPairs) {
  int found_worse = 0, runs = 0;
  std::vector<uint32_t> pairs;
  for (uint64_t run = 0; run < 40; ++run) {
    const Comparison found = compare({.seed = 2000 + run, .b_slower = 0.02, .pair_sd = 0.02}, {});
    if (found.end == CompareEnd::kNullDiffers) continue;
    ++runs;
    found_worse += found.verdict == Verdict::kWorse;
    pairs.push_back(found.mean.tpot.log_ratio.pairs);
    EXPECT_LE(pairs.back(), 60u);
    if (found.verdict == Verdict::kWorse) {
      EXPECT_GT(found.mean.tpot.low(), 1) << "the sequence and the verdict agree";
    }
  }
  EXPECT_GE(runs, 38);
  EXPECT_EQ(found_worse, runs);
  std::ranges::sort(pairs);
  EXPECT_LE(pairs[pairs.size() / 2], 18u);
}

TEST(Compare, ADriftOfBothIsNoDifference) {
  int worse = 0;
  for (uint64_t run = 0; run < 20; ++run) {
    const Comparison found = compare({.seed = 3000 + run, .pair_sd = 0.005, .drift = 0.002}, {.aa_pairs = 0});
    worse += found.verdict != Verdict::kNoDifference;
  }
  EXPECT_LE(worse, 1);
}

TEST(Compare, SeveralLoadsAreDecidedByTheirMean) {
  const Comparison found = compare({.b_slower = -0.10, .pair_sd = 0.01}, {.parallel = {1, 4, 8}});
  EXPECT_EQ(found.verdict, Verdict::kBetter);
  EXPECT_EQ(found.end, CompareEnd::kDecided);
  ASSERT_EQ(found.loads.size(), 3u);
  double mean = 0;
  for (const TimeFigures& load : found.loads) mean += load.tpot.log_ratio.mean / 3;
  EXPECT_NEAR(found.mean.tpot.log_ratio.mean, mean, 1e-12);
  EXPECT_NEAR(found.loads[2].tpot.a_ms, 30, 1);
  EXPECT_NEAR(found.mean.tpot.a_ms, 10 * std::cbrt(6), 0.5);
  EXPECT_NEAR(found.mean.tpot.ratio(), 0.9, 0.02);
}

TEST(Compare, AGateIsPassedByItsUpperLimitOnly) {
  const Comparison passed = compare({.b_slower = -0.25, .pair_sd = 0.01}, {.target_ratio = 0.8});
  EXPECT_TRUE(passed.gate->passed);
  EXPECT_LE(passed.mean.tpot.high(), 0.8);
  EXPECT_EQ(passed.end, CompareEnd::kDecided);
  const Comparison excluded = compare({.b_slower = -0.15, .pair_sd = 0.01}, {.target_ratio = 0.8});
  EXPECT_FALSE(excluded.gate->passed);
  EXPECT_TRUE(excluded.gate->excluded);
  EXPECT_EQ(excluded.verdict, Verdict::kBetter) << "better, and not good enough";
  int lucky = 0, used_up = 0;
  for (uint64_t run = 0; run < 60; ++run) {
    const Comparison open = compare({.seed = 4000 + run, .b_slower = -0.2, .pair_sd = 0.02}, {.target_ratio = 0.8});
    lucky += open.gate->passed;
    used_up += open.end == CompareEnd::kUsedUp;
  }
  EXPECT_LE(lucky, 3) << "just on the target: passed by chance alone";
  EXPECT_GE(used_up, 50);
}

TEST(Compare, AllPairsAreMeasuredWhereThatIsAsked) {
  const Comparison found = compare({.b_slower = 0.05, .pair_sd = 0.005}, {.pairs = 16, .all_pairs = true});
  EXPECT_EQ(found.mean.tpot.log_ratio.pairs, 16u);
  EXPECT_EQ(found.end, CompareEnd::kUsedUp);
  EXPECT_EQ(found.verdict, Verdict::kWorse);
  EXPECT_LT(found.mean.tpot.log_ratio.half_width, found.mean.tpot.half_width) << "fixed beforehand is narrower than looked at each time";
}

TEST(Compare, BothTurnsOfAPairAreAdjacentInDrawnOrder) {
  Servers servers{.b_slower = 0.02};
  std::vector<PairRecord> pairs;
  ASSERT_TRUE(run_compare({.parallel = {1, 8}, .pairs = 24, .all_pairs = true}, servers.hooks(), pairs));
  ASSERT_EQ(pairs.size(), 6u + 24 + 1) << "A against A once more in twenty pairs";
  ASSERT_EQ(servers.seen.size(), pairs.size() * 4);
  size_t at = 0, b_first = 0;
  for (const PairRecord& pair : pairs) {
    EXPECT_EQ(pair.number, &pair - pairs.data());
    EXPECT_EQ(pair.null, pair.number < 6 || pair.number == 26);
    b_first += !pair.null && pair.b_first;
    for (uint32_t load = 0; load < 2; ++load) {
      for (const bool b : {pair.b_first, !pair.b_first}) {
        const Turn& turn = servers.seen[at++];
        EXPECT_EQ(turn.b, b);
        EXPECT_EQ(turn.null, pair.null);
        EXPECT_EQ(turn.load, load);
        EXPECT_EQ(turn.pair, pair.number);
      }
    }
  }
  EXPECT_EQ(b_first, 12u) << "balanced over blocks of four";
}

TEST(Compare, ANullThatDiffersEndsTheRun) {
  Servers servers;
  CompareHooks hooks = servers.hooks();
  hooks.run = [&](const Turn& turn) -> Result<TurnFigures> {
    TurnFigures figures = servers.run(turn);
    if (turn.b) figures.tpot_ms *= 1.2;  // a client that is slow in one arm, whichever server it talks to
    return figures;
  };
  std::vector<PairRecord> pairs;
  const auto found = run_compare({}, hooks, pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, CompareEnd::kNullDiffers);
  EXPECT_FALSE(found->sound());
  EXPECT_LE(pairs.size(), 6u);
}

TEST(Compare, PairsWithFaultsDoNotCountAndManyEndTheRun) {
  Servers servers{.b_slower = 0.1, .pair_sd = 0.01};
  CompareHooks hooks = servers.hooks();
  int broken = 2;
  hooks.run = [&](const Turn& turn) -> Result<TurnFigures> {
    TurnFigures figures = servers.run(turn);
    if (!turn.null && turn.b && broken-- > 0) {
      figures.failed = 1;
      figures.fault = "died: the connection ended";
    }
    return figures;
  };
  std::vector<PairRecord> pairs;
  auto found = run_compare({}, hooks, pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::kWorse);
  EXPECT_EQ(found->faulty, 2u);
  EXPECT_NE(found->first_fault.find("B with 1 users: 1 of 2 requests failed: died"), std::string::npos) << found->first_fault;

  broken = 1000;
  pairs.clear();
  found = run_compare({}, hooks, pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, CompareEnd::kFaults);
  EXPECT_EQ(pairs.size(), 6u + 5);
}

TEST(Compare, AnInterruptedRunGoesOnAsIfNothingHadBeen) {
  const CompareOptions options{.parallel = {1, 4}, .pairs = 20, .all_pairs = true};
  Servers whole{.b_slower = 0.01};
  std::vector<PairRecord> all;
  const auto expected = run_compare(options, whole.hooks(), all);
  ASSERT_TRUE(expected);

  Servers first{.b_slower = 0.01};
  std::atomic<bool> stop = false;
  std::vector<Json> kept;
  CompareHooks hooks = first.hooks();
  hooks.run = [&](const Turn& turn) -> Result<TurnFigures> {
    TurnFigures figures = first.run(turn);
    if (turn.pair == 9 && turn.load == 1) stop = true;
    return figures;
  };
  hooks.keep = [&](const PairRecord& pair) -> Status {
    kept.push_back(to_json(pair));
    return {};
  };
  hooks.stop = &stop;
  std::vector<PairRecord> pairs;
  const auto cut = run_compare(options, hooks, pairs);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->end, CompareEnd::kInterrupted);
  ASSERT_EQ(kept.size(), 9u) << "half a pair is none";
  EXPECT_EQ(cut->mean.tpot.log_ratio.pairs, 3u);

  std::vector<PairRecord> replayed;
  for (const Json& line : kept) {
    const auto text = parse_json(dump_json(line), "line");
    ASSERT_TRUE(text);
    auto pair = parse_pair(*text, options.parallel);
    ASSERT_TRUE(pair) << pair.error().message;
    EXPECT_EQ(to_json(*pair), line);
    replayed.push_back(*std::move(pair));
  }
  Servers rest{.b_slower = 0.01, .turns = 9 * 4};
  const auto found = run_compare(options, rest.hooks(), replayed);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mean.tpot.log_ratio.mean, expected->mean.tpot.log_ratio.mean);
  EXPECT_EQ(found->mean.tpot.half_width, expected->mean.tpot.half_width);
  EXPECT_EQ(found->replies.compared, expected->replies.compared);
}

TEST(Compare, RepliesThatDifferAreCountedAndTheFirstIsShown) {
  Servers servers{.pair_sd = 0.001, .b_writes_other = true};
  CompareHooks hooks = servers.hooks();
  hooks.common_tokens = [](const std::string&, const std::string&) { return std::optional<uint32_t>(3); };
  std::vector<PairRecord> pairs;
  const auto found = run_compare({.pairs = 10}, hooks, pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->replies.compared, 2 * found->mean.tpot.log_ratio.pairs);
  EXPECT_EQ(found->replies.different, found->mean.tpot.log_ratio.pairs);
  EXPECT_EQ(found->null_replies.different, 0u);
  ASSERT_TRUE(found->replies.first);
  EXPECT_EQ(found->replies.first->request, 1u);
  EXPECT_EQ(found->replies.first->character, 6u) << "characters, not bytes";
  EXPECT_EQ(found->replies.first->token, 3u);
  EXPECT_EQ(found->replies.first->a, "ö");
  EXPECT_EQ(found->replies.first->b, "ä");
}

TEST(Compare, TheBandwidthOfTheHostIsReadBetweenBlocksAndItsChangesAreSaid) {
  Servers servers;
  CompareHooks hooks = servers.hooks();
  double gbs = 10;
  hooks.read_gbs = [&]() -> Result<double> { return gbs += 1; };
  std::vector<PairRecord> pairs;
  const auto found = run_compare({.pairs = 10, .all_pairs = true}, hooks, pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->read_gbs, (std::vector<double>{11, 12, 13, 14}));
  bool said = false;
  for (const std::string& warning : found->warnings) said |= warning.find("between 11.0 and 14.0 GB/s") != warning.npos;
  EXPECT_TRUE(said);
}

TEST(Compare, OptionsThatMakeNoSenseAreNamed) {
  const auto message = [](const CompareOptions& options) {
    const Status status = check(options);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({.parallel = {}}).find("--parallel"), std::string::npos);
  EXPECT_NE(message({.parallel = {1, 0}}).find("--parallel: 1 0"), std::string::npos);
  EXPECT_NE(message({.pairs = 0}).find("--pairs"), std::string::npos);
  EXPECT_NE(message({.alpha = 1}).find("--alpha"), std::string::npos);
  EXPECT_NE(message({.min_difference = 0}).find("--min-difference"), std::string::npos);
  EXPECT_NE(message({.target_ratio = std::numeric_limits<double>::quiet_NaN()}).find("--target-ratio"), std::string::npos);
}

TEST(PairRecord, ALineThatIsNoPairNamesItsField) {
  const PairRecord pair{.loads = {{.parallel = 1, .a = {.tpot_ms = 1, .ttft_ms = 2}, .b = {.tpot_ms = 1, .ttft_ms = 2}}}};
  ASSERT_TRUE(parse_pair(to_json(pair), {1}));
  const auto message = [&](const char* pointer, const Json& value) {
    Json line = to_json(pair);
    line[Json::json_pointer(pointer)] = value;
    const auto parsed = parse_pair(line, {1});
    return parsed ? "" : parsed.error().message;
  };
  EXPECT_NE(message("/kind", "bb").find("kind: 'bb'"), std::string::npos);
  EXPECT_NE(message("/first", 1).find("first"), std::string::npos);
  EXPECT_NE(message("/loads", 1).find("loads: number"), std::string::npos);
  EXPECT_NE(message("/loads/0", Json::array()).find("parallel"), std::string::npos);
  EXPECT_NE(message("/loads/0/parallel", 4).find("loads"), std::string::npos);
  EXPECT_NE(message("/loads/0/a/tpot_ms", 0).find("time of 0"), std::string::npos);
  EXPECT_NE(message("/loads/0/a/tpot_ms", "x").find("tpot_ms"), std::string::npos);
  EXPECT_NE(message("/pair", -1).find("pair"), std::string::npos);
  EXPECT_NE(message("/pair", 0.5).find("pair"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
