// Ladders over a bench that makes times up: known truth, seeded noise, no time passes.
#include "workbench/ladder/ladder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/philox.h"
#include "workbench/ladder/report.h"

namespace teapot::workbench {
namespace {

LadderOrder order_of(const std::string& rungs) {
  auto order = parse_ladder_order("name: test\nrungs:\n" + rungs + "others:\n  - {name: elsewhere, note: theirs, steps: [14.2, 7.8]}\n",
                                  "o.yaml", [](const std::string&, const std::string&) -> Status { return {}; });
  EXPECT_TRUE(order) << order.error().message;
  return order.value_or(LadderOrder{});
}

const char* const kRungs =
    "  - {lever: plan, off: eager, on: static}\n"
    "  - {lever: gdn, off: split, on: fused}\n"
    "  - {lever: attn, off: head, on: auto}\n"
    "  - {lever: pages, off: 4k, on: 1g}\n"
    "  - {lever: kv-dtype, off: f32, on: f16, exact: false}\n"
    "  - {lever: mtp, off: \"off\", on: 1, group: mtp}\n"
    "  - {lever: mtp, off: 1, on: auto, group: mtp, reload: false}\n";

// A setting's time is a product of what its values cost.
struct FakeBench : LadderBench {
  std::map<std::string, double> factors = {{"static", 0.8}, {"auto", 1.05}, {"f16", 0.9}, {"1", 0.7}};  // others: 1
  std::map<std::string, uint64_t> other_tokens = {{"f16", 5}};                                          // hashes they add
  std::string refused = "1g", broken_value;
  double noise = 0.002, second_load = 1;  // of the null race's other engine
  uint64_t seed = 1;
  uint64_t turns = 0;
  size_t stop_after = SIZE_MAX;  // turns
  std::atomic<bool> stop = false;
  std::vector<std::string> begun;
  LadderRace race;

  Result<RaceStart> begin(const LadderRace& next) override {
    begun.push_back(next.name);
    race = next;
    if (race.to == refused) return RaceStart{.refused = "no such pages here"};
    return RaceStart{.active = race.to};
  }

  Result<std::vector<LadderTurn>> run(bool b) override {
    if (++turns >= stop_after) stop = true;
    std::vector<LadderTurn> result;
    for (const uint32_t c : {1u, 4u}) {
      LadderTurn turn{.c = c, .tpot_ms = 10.0 * c, .hash = c};
      for (const auto& [lever, value] : b ? race.b : race.a) {
        if (const auto factor = factors.find(value); factor != factors.end() && value != "auto") turn.tpot_ms *= factor->second;
        if (lever == "attn" && value == "auto") turn.tpot_ms *= factors["auto"];
        if (const auto more = other_tokens.find(value); more != other_tokens.end()) turn.hash += more->second;
      }
      if (b && race.kind == LadderKind::kNull) turn.tpot_ms *= second_load;
      turn.tpot_ms *= 1 + noise * (engine::uniform(seed, turns, c) - 0.5);
      result.push_back(turn);
    }
    return result;
  }
};

struct Climb {
  LadderOptions options{.concurrency = {1, 4}, .pairs = 16, .seed = 3};
  LadderRecords records = {};
  std::vector<Json> lines = {};
  std::vector<size_t> steps_told = {};

  Ladder climb(FakeBench& bench, const LadderOrder& order = order_of(kRungs)) {
    LadderHooks hooks;
    hooks.keep = [this](const Json& line) -> Status {
      lines.push_back(line);
      return {};
    };
    hooks.step = [this](const Ladder& done) -> Status {
      EXPECT_EQ(done.end, LadderEnd::kRunning);
      steps_told.push_back(done.steps.size());
      return {};
    };
    hooks.stop = &bench.stop;
    auto ladder = run_ladder(order, options, bench, hooks, records);
    EXPECT_TRUE(ladder) << ladder.error().message;
    return ladder.value_or(Ladder{});
  }
};

const LadderStep& find(const Ladder& ladder, const std::string& name, LadderKind kind = LadderKind::kClimb) {
  static const LadderStep none;
  for (const LadderStep& step : ladder.steps) {
    if (step.race.kind == kind && step_name(step) == name) return step;
  }
  ADD_FAILURE() << name << " was not measured";
  return none;
}

TEST(Ladder, EachRungHasTheVerdictOfItsTruth) {
  FakeBench bench;
  Climb run;
  const Ladder ladder = run.climb(bench);
  EXPECT_EQ(ladder.end, LadderEnd::kDone);
  EXPECT_TRUE(ladder.sound());
  ASSERT_EQ(run.steps_told.size(), ladder.steps.size());
  for (size_t i = 0; i < ladder.steps.size(); ++i) EXPECT_EQ(run.steps_told[i], i + 1);
  const auto verdict = [&](const std::string& name, LadderKind kind = LadderKind::kClimb) { return find(ladder, name, kind).verdict; };
  EXPECT_EQ(verdict("plan: eager → static"), LadderVerdict::kWin);
  EXPECT_EQ(verdict("gdn: split → fused"), LadderVerdict::kNull);
  EXPECT_EQ(verdict("attn: head → auto"), LadderVerdict::kLose);
  EXPECT_EQ(verdict("pages: 4k → 1g"), LadderVerdict::kRefused);
  EXPECT_EQ(verdict("kv-dtype: f32 → f16"), LadderVerdict::kWin);
  EXPECT_EQ(verdict("mtp: off → 1"), LadderVerdict::kWin);
  EXPECT_NEAR(find(ladder, "plan: eager → static").mean.ratio(), 0.8, 0.01);
  EXPECT_NEAR(find(ladder, "plan: eager → static").loads[1].a_ms, 40, 0.2);
  // A loser stays on, what was refused stays off.
  const LadderRace& later = find(ladder, "kv-dtype: f32 → f16").race;
  EXPECT_EQ(later.a,
            (LeverSetting{{"plan", "static"}, {"gdn", "fused"}, {"attn", "auto"}, {"pages", "4k"}, {"kv-dtype", "f32"}, {"mtp", "off"}}));
  // The second part: on against one off, of the decode group without drafts.
  const LadderRace& dropped = find(ladder, "plan: eager → static", LadderKind::kDrop).race;
  EXPECT_EQ(dropped.b,
            (LeverSetting{{"plan", "static"}, {"gdn", "fused"}, {"attn", "auto"}, {"pages", "4k"}, {"kv-dtype", "f16"}, {"mtp", "off"}}));
  EXPECT_EQ(dropped.a[0].second, "eager");
  EXPECT_EQ(verdict("plan: eager → static", LadderKind::kDrop), LadderVerdict::kWin);
  EXPECT_EQ(verdict("attn: head → auto", LadderKind::kDrop), LadderVerdict::kLose);
  for (const LadderStep& step : ladder.steps) EXPECT_FALSE(step.race.kind == LadderKind::kDrop && step.race.lever == "pages");
  EXPECT_NEAR(find(ladder, "all off → all on", LadderKind::kWhole).mean.ratio(), 0.8 * 1.05 * 0.9, 0.01);
  EXPECT_EQ(find(ladder, "all off → all on", LadderKind::kWhole).mean.log_ratio.pairs, 16u);
  EXPECT_FALSE(find(ladder, "mtp: 1 → auto").race.reload);
}

TEST(Ladder, OtherTokensBreakARungThatIsToBeExact) {
  FakeBench bench;
  bench.other_tokens["fused"] = 7;
  Climb run;
  const Ladder ladder = run.climb(bench);
  const LadderStep& step = find(ladder, "gdn: split → fused");
  EXPECT_EQ(step.verdict, LadderVerdict::kBroken);
  EXPECT_EQ(step.mean.log_ratio.pairs, 1u);
  EXPECT_NE(step.reason.find("other tokens at c=1 in pair 1"), std::string::npos) << step.reason;
  EXPECT_FALSE(ladder.sound());
  EXPECT_EQ(ladder.end, LadderEnd::kDone);  // and the way goes on
  EXPECT_EQ(find(ladder, "attn: head → auto").verdict, LadderVerdict::kLose);
  const LadderStep& other = find(ladder, "kv-dtype: f32 → f16");  // marked as not exact
  EXPECT_EQ(other.verdict, LadderVerdict::kWin);
  EXPECT_EQ(other.equal_tokens, false);
}

TEST(Ladder, GoesOnWhereItWasInterrupted) {
  FakeBench whole_bench;
  Climb whole;
  const Ladder expected = whole.climb(whole_bench);
  FakeBench first;
  first.stop_after = 31;
  Climb cut;
  EXPECT_EQ(cut.climb(first).end, LadderEnd::kInterrupted);

  Climb resumed;
  for (const Json& line : cut.lines) {
    const Status read = add_ladder_line(parse_json(dump_json(line), "line").value(), resumed.options.concurrency, resumed.records);
    ASSERT_TRUE(read) << read.error().message;
  }
  FakeBench second;
  second.turns = 2 * static_cast<uint64_t>(std::ranges::count_if(cut.lines, [](const Json& line) { return line.contains("pair"); }));
  const uint64_t kept = second.turns;
  const Ladder ladder = resumed.climb(second);
  EXPECT_EQ(ladder.end, LadderEnd::kDone);
  EXPECT_EQ(std::ranges::count(second.begun, "all off, twice"), 0);  // was done
  EXPECT_EQ(std::ranges::count(second.begun, "rung 1"), 0);
  ASSERT_EQ(ladder.steps.size(), expected.steps.size());
  for (size_t i = 0; i < ladder.steps.size(); ++i) {
    EXPECT_EQ(ladder.steps[i].verdict, expected.steps[i].verdict) << step_name(ladder.steps[i]);
    EXPECT_EQ(ladder.steps[i].mean.log_ratio.mean, expected.steps[i].mean.log_ratio.mean) << step_name(ladder.steps[i]);
  }
  EXPECT_EQ(second.turns, whole_bench.turns);
  EXPECT_LT(kept, whole_bench.turns);
}

TEST(Ladder, ASettingThatDiffersFromItselfEndsIt) {
  FakeBench bench;
  bench.second_load = 1.03;
  Climb run;
  const Ladder ladder = run.climb(bench);
  EXPECT_EQ(ladder.end, LadderEnd::kNullDiffers);
  EXPECT_EQ(ladder.steps.size(), 1u);
  const auto summary = ladder_summary({.model = "m", .way = "w", .conditions = {}, .found = ladder, .warnings = {}});
  EXPECT_NE(summary.at(0).find("differs from itself"), std::string::npos);
}

TEST(Ladder, TooFewPairsToDecideAnythingAreRefused) {
  const LadderOrder order = order_of(kRungs);
  EXPECT_EQ(check({.pairs = 4}, order).error().message, "--pairs: 4; expected at least 7: with fewer no race could be decided");
  EXPECT_TRUE(check({.pairs = 7}, order));
  EXPECT_FALSE(check({.concurrency = {1, 0}}, order));
  EXPECT_FALSE(check({.alpha = 1}, order));
}

TEST(Ladder, ReportsHoldWhatWasFound) {
  FakeBench bench;
  Climb run;
  LadderReport report{.model = "m<odel",
                      .way = "at once",
                      .conditions = {{"gen", 4}, {"host", {{"cpu", "Fast One"}, {"memory_bytes", 24'000'000'000}}}},
                      .found = run.climb(bench),
                      .warnings = {"careful"}};
  const Json json = to_json(report);
  EXPECT_EQ(json["steps"][1]["verdict"], "win");
  EXPECT_EQ(json["steps"][1]["loads"][1]["c"], 4);
  EXPECT_EQ(json["waterfall"].size(), 7u);  // all off, and six rungs that were measured
  EXPECT_NEAR(json["waterfall"][5]["tpot_ms"][0].get<double>(), 10 * 0.8 * 1.05 * 0.9 * 0.7, 0.05);
  const std::string text = to_text(report), markdown = to_markdown(report), html = ladder_html(report);
  for (const std::string* one : {&text, &markdown, &html}) {
    EXPECT_NE(one->find("attn: head → auto"), std::string::npos);
    EXPECT_NE(one->find("pages: 4k → 1g: refused: no such pages here"), std::string::npos);
    EXPECT_NE(one->find("elsewhere"), std::string::npos);
    EXPECT_NE(one->find("careful"), std::string::npos);
    EXPECT_NE(one->find("not exact"), std::string::npos);
  }
  EXPECT_NE(markdown.find("| **win** |"), std::string::npos);
  EXPECT_NE(markdown.find("* settings: c = 1, 4; prompts of - tokens, replies of 4; at most 16 pairs a race"), std::string::npos);
  EXPECT_NE(markdown.find("* host: Fast One, -, 24.0 GB"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| step | c=1, ms | c=4, ms | change | 95 % | pairs | verdict |"), std::string::npos);
  report.found.end = LadderEnd::kRunning;
  EXPECT_NE(to_markdown(report).find("* RUNNING, or killed"), std::string::npos);
  EXPECT_EQ(html.find("m<odel"), std::string::npos);
  EXPECT_NE(text.find("█"), std::string::npos);
}

TEST(LadderLines, WhatIsNoLineIsRefused) {
  LadderRecords records;
  const std::vector<uint32_t> c = {1};
  const auto add = [&](const std::string& text) {
    const Status added = add_ladder_line(parse_json(text, "line").value(), c, records);
    return added ? std::string() : added.error().message;
  };
  const std::string turn = R"([{"c": 1, "tpot_ms": 2.5, "tokens": "00ff"}])";
  const auto pair = [&](const std::string& number, const std::string& a) {
    return R"({"race": "r", "pair": )" + number + R"(, "first": "a", "a": )" + a + R"(, "b": )" + turn + R"(, "at": ""})";
  };
  EXPECT_EQ(add("{}"), "race is missing");
  EXPECT_EQ(add(R"({"race": "r", "refused": 1})"), "refused: number; expected a string");
  EXPECT_EQ(add(pair("1", turn)), "pair: 1; expected 0, the next of 'r'");
  EXPECT_EQ(add(pair("0", "[]")), "a: not the turns of 1 sequences");
  EXPECT_EQ(add(pair("0", R"([{"c": 1, "tpot_ms": 0, "tokens": "0"}])")), "tpot_ms: 0; expected a time");
  EXPECT_EQ(add(pair("0", R"([{"c": 1, "tpot_ms": 1, "tokens": "x"}])")), "tokens: 'x'; expected a hash");
  EXPECT_EQ(add(pair("0", turn)), "");
  EXPECT_EQ(add(pair("1", turn)), "");
  EXPECT_EQ(records.at("r").pairs[1].b[0].hash, 0xffu);
}

}  // namespace
}  // namespace teapot::workbench
