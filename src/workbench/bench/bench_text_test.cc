#include <gtest/gtest.h>

#include <sstream>

#include "workbench/bench/bench.h"
#include "workbench/bench/conditions.h"
#include "workbench/bench/run_for_tests.h"
#include "workbench/bench/wrap.h"

namespace teapot::workbench {
namespace {

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != text.npos; }

TEST(BenchText, EveryLineFitsAHundredColumns) {
  BenchRun run = run_for_tests({1, 2, 4, 8, 16, 32, 65535}, 20, 16);
  run.loads[6].summary.rate = 1234.5;
  run.loads[6].summary.latency_ms.max = 7'654'321;
  std::istringstream lines(to_text(run, false));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 100) << line;
}

TEST(BenchText, ShowsFiguresFailuresWarningsConditionsAndFormulas) {
  BenchRun run = run_for_tests({1, 4}, 10, 16);
  run.loads[1].result.records[3].outcome = Outcome::kDied;
  run.loads[1].result.records[3].error = "the connection closed after 3 events, expected a finish_reason";
  run.loads[1].summary = summarise(run.loads[1].result);
  run.warnings = {"c=1: 128 prompt tokens came from a cache that nobody asked for"};
  const std::string text = to_text(run, false);
  for (const char* piece :
       {"c=1", "c=4", "100.0 %", "90.0 %", "TTFT ms", "TPOT ms", "c=4: 1 died, the first: the connection closed after 3", "Warnings",
        "nobody asked for", "finish_reason - first chunk) / (output tokens", "url http://127.0.0.1", "overhead.us_per_event 1.5",
        "drafts accepted"}) {
    EXPECT_TRUE(has(text, piece)) << piece << "\n" << text;
  }
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_FALSE(has(text, "split, fused")) << "levers are for the other reports";
}

TEST(BenchText, TimesHaveAllTheirPercentilesAndTheLeastAndTheMost) {
  std::vector<RequestRecord> records;
  for (const double ms : {10, 1, 4, 2, 3}) {
    records.push_back(reply({.chunks_ms = {ms, 2 * ms}, .last_ms = 2 * ms, .end_ms = 3 * ms, .tokens = 2}));
  }
  BenchRun run;
  run.loads.push_back({summarise(load_of(records, 4)), load_of(records, 4)});
  const std::string text = to_text(run, false);
  for (const char* line : {"                      mean      p50      p90      p95      p99      min      max\n",
                           "TTFT ms        c=4     4.00     3.00     7.60     8.80     9.76     1.00    10.00\n",
                           "TPOT ms        c=4     4.00     3.00     7.60     8.80     9.76     1.00    10.00\n",
                           "ITL ms a chunk c=4     4.00     3.00     7.60     8.80     9.76     1.00    10.00\n",
                           "latency ms     c=4    12.00     9.00    22.80    26.40    29.28     3.00    30.00\n"}) {
    EXPECT_TRUE(has(text, line)) << line << text;
  }
}

TEST(BenchText, WithoutUsageTokensAreUnknown) {
  BenchRun run = run_for_tests({1, 4}, 4, 16);
  for (RequestRecord& record : run.loads[0].result.records) {
    record.has_usage = false;
    record.prompt_tokens = record.completion_tokens = 0;
  }
  run.loads[1].result.records[0].has_usage = false;
  run.loads[1].result.records[0].completion_tokens = 0;
  for (BenchRun::Load& load : run.loads) load.summary = summarise(load.result);
  const std::string text = to_text(run, false);
  for (const char* line : {"tokens a chunk    mean             -        1.00\n", "output tokens     mean             -        16.0\n",
                           "output tok/s                       -           -\n", "total tok/s                        -           -\n"}) {
    EXPECT_TRUE(has(text, line)) << line << text;
  }
}

TEST(BenchText, WarningsAndFailuresAreRed) {
  BenchRun run = run_for_tests({1}, 2, 4);
  run.warnings = {"cache"};
  EXPECT_TRUE(has(to_text(run, true), "\x1b[31m  cache"));
  EXPECT_FALSE(has(to_text(run, false), "\x1b["));
}

TEST(BenchText, ARunOfNothingIsText) {
  BenchRun run;
  run.complete = false;
  EXPECT_TRUE(has(to_text(run, false), "not completed"));
}

TEST(BenchText, WhereNothingSucceededNoFigureStands) {
  BenchRun run = run_for_tests({1}, 2, 4);
  for (RequestRecord& record : run.loads[0].result.records) record.outcome = Outcome::kConnect;
  run.loads[0].summary = summarise(run.loads[0].result);
  const std::string text = to_text(run, false);
  EXPECT_FALSE(has(text, "TPOT ms"));
  EXPECT_TRUE(has(text, "2 connect"));
}

TEST(Conditions, EveryLeafHasItsPath) {
  const auto rows = condition_rows(
      Json{{"a", 1}, {"b", {{"c", "x"}, {"d", {1, 2}}}}, {"e", Json::object()}, {"h", 1.0 / 3}, {"f", Json::array({Json{{"g", true}}})}});
  const std::vector<std::pair<std::string, std::string>> expected = {{"a", "1"},  {"b.c", "x"},      {"b.d", "1 2"},
                                                                     {"e", "{}"}, {"h", "0.333333"}, {"f.0.g", "true"}};
  EXPECT_EQ(rows, expected);
  EXPECT_TRUE(condition_rows(Json()).empty());
  EXPECT_TRUE(condition_rows(Json::array({1})).empty());
}

TEST(Wrap, BreaksAtBlanksAndCountsCodePoints) {
  EXPECT_EQ(wrap("ab: ", "one two  three", 11), "ab: one two\n    three\n");
  EXPECT_EQ(wrap("", "ä ö ü", 3), "ä ö\nü\n");
  EXPECT_EQ(wrap("x ", "", 5), "x \n");
  EXPECT_EQ(wrap("", "longer-than-the-line b", 5), "longer-than-the-line\nb\n");
}

}  // namespace
}  // namespace teapot::workbench
