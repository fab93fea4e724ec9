#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "temporary_folder.h"
#include "test_data.h"
#include "workbench/trace/advice.h"
#include "workbench/trace/chrome_export.h"
#include "workbench/trace/import.h"
#include "workbench/trace/report_html.h"
#include "workbench/trace/report_text.h"
#include "workbench/trace/timeline_data.h"

namespace teapot::workbench::trace {
namespace {

std::vector<Analysis> import_case(const std::string& name, double roof_gbps = 0) {
  const auto rules = Rules::create(nullptr, "");
  ImportOptions options;
  options.analysis.keep_trace = true;
  if (roof_gbps > 0) options.analysis.roof_gbps = roof_gbps;
  auto ranks = import_traces({testing::test_data("traces/" + name).string()}, *rules, options);
  EXPECT_TRUE(ranks);
  return ranks ? std::move(*ranks) : std::vector<Analysis>();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(TraceReport, TextNamesWhatDominatesAndTheHostCallsBehindIt) {
  const auto alloc = import_case("alloc");
  ASSERT_EQ(alloc.size(), 1u);
  const std::string text = to_text(alloc, std::nullopt);
  EXPECT_TRUE(contains(text, "host in AscendCL@aclMallocMemInner"));
  EXPECT_TRUE(contains(text, "memory takes"));
  EXPECT_TRUE(contains(text, "pytorch_npu_alloc_conf"));
  EXPECT_FALSE(contains(text, "unattributed"));
}

TEST(TraceReport, AFileWithoutHostEventsIsSaidToBeOne) {
  const std::string text = to_text(import_case("broken/csv_bom_crlf/kernel_details.csv"), std::nullopt);
  EXPECT_TRUE(contains(text, "warning: the file holds no host events"));
  EXPECT_TRUE(contains(text, "unattributed"));
}

TEST(TraceReport, AFigureAboveTheRoofIsNoFigure) {
  const std::string text = to_text(import_case("async_sched", 100), std::nullopt);
  EXPECT_TRUE(contains(text, "shapes do not explain"));
}

TEST(TraceReport, AdviceNamesTheMeasuredShareAndHasItsSource) {
  for (const char* name : {"healthy", "kineto_eager", "teapot"}) {
    const auto ranks = import_case(name);
    const Advice advice = advise(ranks.front());
    ASSERT_FALSE(advice.classes.empty()) << name;
    for (const ClassAdvice& entry : advice.classes) {
      EXPECT_GT(entry.percent, 5);
      for (const Lever& lever : entry.levers) EXPECT_FALSE(lever.evidence.empty()) << lever.knob;
    }
    const std::string command =
        advice.server == "teapot" ? "teapot levers --catalogue > teapot.yaml && teapot tune --catalogue teapot.yaml --model MODEL --knobs "
                                  : "teapot tune --catalogue " + advice.server + " --model MODEL --fill devices=N --knobs ";
    EXPECT_TRUE(advice.tune.starts_with(command)) << advice.tune;
  }
}

TEST(TraceReport, AgainstAnotherTraceOperatorsArePaired) {
  const auto slow = import_case("dynamic_shape"), fast = import_case("host_bound");
  const Comparison same = compare(slow.front(), slow.front());
  for (const OperatorChange& change : same.operators) EXPECT_EQ(change.change_us(), 0);
  const Comparison comparison = compare(slow.front(), fast.front());
  EXPECT_LT(comparison.after_us[static_cast<size_t>(Class::kGraph)], comparison.before_us[static_cast<size_t>(Class::kGraph)]);
  const auto layout =
      std::ranges::find_if(comparison.operators, [](const OperatorChange& change) { return change.name.ends_with("_TransData"); });
  ASSERT_NE(layout, comparison.operators.end());
  EXPECT_GT(layout->before_calls, 0);
  EXPECT_EQ(layout->after_calls, 0);
  EXPECT_TRUE(contains(to_text(fast, comparison), "against worker0"));
}

TEST(TraceReport, TheChromeTraceAddsUpToTheClasses) {
  const auto ranks = import_case("healthy");
  const testing::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  ASSERT_TRUE(write_chrome_trace(ranks, path));
  const auto json = read_json_file(path);
  ASSERT_TRUE(json);
  std::map<std::pair<int64_t, std::string>, double> sums;
  for (const Json& event : (*json)["traceEvents"]) {
    if (event["ph"] == "X" && event["tid"] == 1)
      sums[{event["pid"].get<int64_t>(), event["cat"].get<std::string>()}] += event["dur"].get<double>();
  }
  for (const Analysis& rank : ranks) {
    const ClassTimes total = rank.total_ns();
    for (size_t c = 0; c < kClasses; ++c) {
      EXPECT_NEAR((sums[{rank.rank, std::string(kClassNames[c])}]), static_cast<double>(total[c]) / 1000, 0.01);
    }
  }
}

TEST(TraceReport, ThePageHoldsEverythingAndNothingBreaksOutOfIt) {
  auto ranks = import_case("healthy");
  ranks.front().input = "</script><b>";
  const std::string page = to_html(ranks, std::nullopt);
  EXPECT_FALSE(contains(page, "</script><b>"));
  EXPECT_FALSE(contains(page, "src="));
  EXPECT_TRUE(contains(page, "waits for another rank"));
  EXPECT_TRUE(contains(page, "Stream 9"));
}

TEST(TraceReport, ATooLongTimelineIsCutAtWholeSteps) {
  const auto ranks = import_case("host_bound");
  const Json all = timeline_data(ranks.front(), 1'000'000), some = timeline_data(ranks.front(), 900);
  EXPECT_EQ(all["drawn_steps"], ranks.front().steps.size());
  EXPECT_EQ(some["drawn_steps"], some["steps"].size());
  EXPECT_LT(some["steps"].size(), all["steps"].size());
}

TEST(TraceReport, NamesAreShortenedToWhatTheyAre) {
  EXPECT_EQ(short_name("void vllm::moe::topkGatingSoftmax<8, 256>(float const*)", 60), "vllm::moe::topkGatingSoftmax");
  EXPECT_EQ(short_name("void at::native::(anonymous namespace)::CatArrayBatchedCopy<int>(int)", 60),
            "at::native::(anonymous namespace)::CatArrayBatchedCopy");
  EXPECT_EQ(short_name(std::string(100, 'x'), 10), "xxxxxxx...");
}

}  // namespace
}  // namespace teapot::workbench::trace
