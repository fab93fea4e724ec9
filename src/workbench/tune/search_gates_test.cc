// What a search must not do: start what no pair is left for, let text change under load, take a failed start for the last word.
#include "workbench/tune/double_search_for_tests.h"
#include "workbench/tune/recorded_trials.h"

namespace teapot::workbench {
namespace {

bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(SearchBudget, WhatNoPairIsLeftForIsNotStarted) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(30, 1);
  options.coarsest_resolution = 10;
  SearchOptions timed = options;
  timed.budget = {.seconds = 200};
  for (const SearchOptions& each : {options, timed}) {
    DoubleTrials trials(catalogue, kParallel, 1, {});
    const auto result = search(catalogue, each, trials, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->end, SearchEnd::kDone) << result->end_reason;
    const auto unstarted = std::ranges::count_if(result->verdicts, [](const MoveVerdict& verdict) {
      return verdict.state == MoveState::kInconclusive && verdict.effect.pairs == 0 && verdict.reason == "the budget is used up";
    });
    EXPECT_GE(unstarted, 10) << told(*result);
    EXPECT_LE(trials.looks(), 10u) << told(*result);
    EXPECT_LE(result->elapsed_s, 215);
  }
}

TEST(SearchText, RepliesUnderLoadMustBeTheSameToo) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(90, 1);
  options.knobs = {"comm", "bind"};
  DoubleTrials trials(catalogue, kParallel, 1, {.other_replies_with = "comm"});
  const auto result = search(catalogue, options, trials, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->load_text_gate);
  const MoveVerdict* comm = last_verdict(*result, "comm", "aiv");
  EXPECT_EQ(comm->state, MoveState::kBrokenText);
  EXPECT_NE(comm->reason.find("replies under load differ"), std::string::npos) << comm->reason;
  EXPECT_EQ(result->winner, (KnobProfile{{"bind", "core"}})) << told(*result);
}

TEST(SearchText, WhereANeverRepeatsItselfUnderLoadNothingIsCompared) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(90, 1);
  options.knobs = {"comm"};
  DoubleTrials unsteady(catalogue, kParallel, 1, {.unsteady_replies = true});
  const auto result = search(catalogue, options, unsteady, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->load_text_gate);
  EXPECT_TRUE(says(result->warnings, "A's own differ from start to start"));
  EXPECT_EQ(std::ranges::count_if(result->warnings, [](const std::string& line) { return line.starts_with("replies under load"); }), 1);
  EXPECT_EQ(last_verdict(*result, "comm", "aiv")->state, MoveState::kWin) << told(*result);

  options.parallel = {4, 8};
  DoubleTrials crowd(catalogue, options.parallel, 1, {});
  const auto crowded = search(catalogue, options, crowd, {});
  ASSERT_TRUE(crowded) << crowded.error().message;
  EXPECT_TRUE(says(crowded->warnings, "no load is of one user"));
}

TEST(SearchText, WhatMayChangeTheTextMayDoSoUnderLoad) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(200, 1);
  options.knobs = {"kv_type"};
  options.allow_text = TextRisk::kMay;
  DoubleTrials trials(catalogue, kParallel, 1, {.start_sd = 0.005, .request_sd = 0.002, .other_replies_with = "kv_type"});
  const auto result = search(catalogue, options, trials, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->winner, (KnobProfile{{"kv_type", "q8"}})) << told(*result);
}

TEST(SearchFaults, AServerThatLivesButFailsRequestsHasItsOwnVerdict) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(90, 1);
  options.knobs = {"mem"};
  DoubleTrials trials(catalogue, kParallel, 1, {.mem_fault = TrialFault::kRequests});
  const auto result = search(catalogue, options, trials, {});
  ASSERT_TRUE(result) << result.error().message;
  const MoveState state = last_verdict(*result, "mem", "0.97")->state;
  EXPECT_EQ(state, MoveState::kBrokenRequests);
  EXPECT_TRUE(is_broken(state));
  EXPECT_EQ(kMoveStateNames[static_cast<size_t>(state)], "broken (requests)");
  EXPECT_EQ(kMoveStateNames[static_cast<size_t>(MoveState::kRefused)], "refused");
}

TEST(SearchFaults, ABaseThatFailedIsStartedAgainOnResume) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(60, 3);
  options.knobs = {"comm"};
  std::vector<Json> lines;
  const auto keep = [&](const Json& line) -> Status {
    lines.push_back(line);
    return {};
  };
  for (int time = 0; time < 2; ++time) {  // once anew, once resumed
    DoubleTrials live(catalogue, kParallel, 3, {.failing_starts = 1});
    RecordedTrials failing(lines, kParallel, "host", &live, keep);
    const auto refused = search(catalogue, options, failing, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("the base can't be measured (start): not yet"), std::string::npos) << refused.error().message;
  }
  RecordedTrials read(lines, kParallel, "host", nullptr, {});
  const auto shown = search(catalogue, options, read, {});
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->end, SearchEnd::kInterrupted);
  EXPECT_NE(shown->end_reason.find("the base can't be measured"), std::string::npos) << shown->end_reason;

  DoubleTrials live(catalogue, kParallel, 3, {});
  RecordedTrials resumed(lines, kParallel, "host", &live, keep);
  const auto result = search(catalogue, options, resumed, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, SearchEnd::kDone);
  RecordedTrials whole(lines, kParallel, "host", nullptr, {});
  const auto again = search(catalogue, options, whole, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(told(*again), told(*result));
}

TEST(SearchEnds, WhatDidNotComeToItsEndHasNoWinner) {
  const Catalogue catalogue = double_catalogue();
  SearchOptions options = with_budget(120, 3);
  options.knobs = {"comm", "bind", "alloc"};
  DoubleTrials trials(catalogue, kParallel, 3, {.stop_after = 55});
  const auto result = search(catalogue, options, trials, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, SearchEnd::kInterrupted);
  EXPECT_EQ(result->winner, result->base);
  EXPECT_EQ(result->simplest, result->base);
  ASSERT_TRUE(result->unconfirmed) << told(*result);
  EXPECT_FALSE(result->unconfirmed->empty());
  EXPECT_EQ(result->confirmed(), nullptr);
}

}  // namespace
}  // namespace teapot::workbench
