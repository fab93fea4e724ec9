#include "workbench/bench/turn_figures.h"

#include <gtest/gtest.h>

#include "workbench/bench/compare.h"
#include "workbench/bench/records_for_tests.h"

namespace teapot::workbench {
namespace {

RequestRecord timed() { return reply({.chunks_ms = {10, 20}, .last_ms = 20, .end_ms = 20, .tokens = 2}); }

TEST(TurnFigures, SayWhyThereIsNoTimePerToken) {
  const auto why = [](const RequestRecord& record) {
    const TurnFigures figures = turn_figures(load_of({record, record}), false);
    EXPECT_EQ(figures.tpot_ms, 0);
    return figures.untimed;
  };
  RequestRecord silent = timed();
  silent.has_usage = false;
  silent.completion_tokens = 0;
  EXPECT_EQ(why(silent), "no usage in the replies (stream_options.include_usage)");
  EXPECT_EQ(why(reply({.chunks_ms = {10, 10}, .last_ms = 11, .end_ms = 11, .tokens = 2})), "all events of a reply came in one read");
  EXPECT_EQ(why(reply({.chunks_ms = {10}, .last_ms = 11, .end_ms = 11, .tokens = 2})), "each reply came in one event");
  EXPECT_EQ(why(reply({.chunks_ms = {10}, .last_ms = 11, .end_ms = 11, .tokens = 1})), "no reply of two tokens");
  EXPECT_EQ(why(reply({.chunks_ms = {}, .last_ms = 11, .end_ms = 11, .tokens = 2})), "no event with text");
  const TurnFigures one_of_two = turn_figures(load_of({silent, timed()}), false);
  EXPECT_EQ(one_of_two.untimed, "");
  EXPECT_EQ(one_of_two.tpot_ms, 10);
}

TEST(TurnFigures, TheReasonIsTheFaultOfThePair) {
  CompareOptions options;
  options.parallel = {4};
  options.aa_pairs = 0;
  CompareHooks hooks;
  hooks.run = [](const Turn&) -> Result<TurnFigures> {
    return turn_figures(load_of({reply({.chunks_ms = {10, 10}, .last_ms = 11, .tokens = 2})}), false);
  };
  std::vector<PairRecord> pairs;
  const auto found = run_compare(options, hooks, pairs);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(found->first_fault.find("with 4 users: all events of a reply came in one read, so no time per token"), std::string::npos)
      << found->first_fault;
}

}  // namespace
}  // namespace teapot::workbench
