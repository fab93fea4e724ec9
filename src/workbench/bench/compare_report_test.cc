#include "workbench/bench/compare_report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace teapot::workbench {
namespace {

// B takes `ratio` times as long, with a little noise.
CompareReport report_of(double ratio, uint32_t pairs, const CompareOptions& options) {
  CompareReport report;
  report.name = "a <name>";
  report.options = options;
  report.conditions = {{"A", {{"url", "http://a"}, {"model", "m"}}}, {"B", {{"url", "http://b"}, {"model", "m"}}}};
  for (uint32_t i = 0; i < pairs + 2; ++i) {
    PairRecord pair;
    pair.number = i;
    pair.null = i < 2;
    const double noise = 0.002 * (static_cast<double>(i * 7 % 5) - 2);
    for (const uint32_t parallel : options.parallel) {
      LoadPair load;
      load.parallel = parallel;
      load.a.tpot_ms = 10 * parallel;
      load.b.tpot_ms = 10 * parallel * (pair.null ? 1 : ratio) * std::exp(noise);
      load.a.ttft_ms = load.b.ttft_ms = 100;
      if (!pair.null) load.replies.compared = parallel;
      pair.loads.push_back(load);
    }
    report.pairs.push_back(pair);
  }
  report.found = analyse(options, report.pairs);
  return report;
}

TEST(CompareReport, TheVerdictIsASentenceWithItsNumbers) {
  const CompareReport worse = report_of(1.1, 8, {.parallel = {1, 4}});
  EXPECT_NE(to_text(worse, false).find("B is worse: its TPOT is"), std::string::npos) << to_text(worse, false);
  EXPECT_NE(to_text(worse, false).find("all 40 greedy replies are equal"), std::string::npos);
  EXPECT_EQ(to_text(worse, false).find('\x1b'), std::string::npos);
  const CompareReport better = report_of(0.7, 8, {.parallel = {1}, .target_ratio = 0.8});
  EXPECT_NE(to_text(better, false).find("B is better"), std::string::npos);
  EXPECT_NE(to_text(better, false).find("gate      passed"), std::string::npos) << to_text(better, false);
  const CompareReport missed = report_of(0.9, 8, {.parallel = {1}, .target_ratio = 0.8});
  EXPECT_NE(gate_text(missed.found).find("NOT PASSED"), std::string::npos) << gate_text(missed.found);
  const CompareReport equal = report_of(1, 20, {.parallel = {1}});
  EXPECT_TRUE(verdict_text(equal.options, equal.found).starts_with("no difference of 1 % or more"))
      << verdict_text(equal.options, equal.found);
  const CompareReport few = report_of(1.1, 2, {.parallel = {1}});
  EXPECT_NE(to_text(few, false).find("undecided after 2 pairs"), std::string::npos) << to_text(few, false);
  CompareReport fixed = report_of(1.1, 8, {.parallel = {1}, .pairs = 8, .all_pairs = true});
  EXPECT_NE(to_text(fixed, false).find("Student's t over the 8 pairs"), std::string::npos) << to_text(fixed, false);
}

TEST(CompareReport, RepliesThatDifferAreShown) {
  CompareReport report = report_of(1, 8, {.parallel = {1}});
  report.pairs.back().loads[0].replies.different = 1;
  report.pairs.back().loads[0].replies.first = FirstDifference{0, 5, 2, "x\"", "y"};
  report.found = analyse(report.options, report.pairs);
  const std::string text = to_text(report, false);
  EXPECT_NE(text.find("1 of 8 greedy replies DIFFER"), std::string::npos) << text;
  EXPECT_NE(text.find("after 5 characters (2 tokens)"), std::string::npos) << text;
}

TEST(CompareReport, JsonHasTheNumbersAndNoInfinity) {
  const Json json = to_json(report_of(1.1, 2, {.parallel = {1, 4}}));
  EXPECT_EQ(json["verdict"], "undecided");
  EXPECT_TRUE(json["mean"]["tpot"]["high"].is_null()) << "too few pairs for a limit";
  EXPECT_EQ(json["loads"].size(), 2u);
  EXPECT_NEAR(json["loads"][1]["tpot"]["a_ms"].get<double>(), 40, 1e-9);
  const auto again = parse_json(dump_json(json), "compare.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)["loads"][1]["parallel"], 4);
}

TEST(CompareReport, ThePageHasEveryPairAndNothingThatEndsIt) {
  const std::string html = compare_html(report_of(1.1, 8, {.parallel = {1, 4}, .target_ratio = 2}));
  EXPECT_NE(html.find("<h1>a &lt;name&gt;</h1>"), std::string::npos);
  EXPECT_NE(html.find("\"pair\":9"), std::string::npos);
  EXPECT_NE(html.find("\"target\":2"), std::string::npos);
  EXPECT_NE(html.find("TPOT, A with A"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
