// Traces with known answers (tests/data/traces, and all of the shared ones when they are there): every field of expected.json, by ==.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "test_data.h"
#include "workbench/trace/report_json.h"

namespace teapot::workbench::trace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> answers(const fs::path& root) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("expected") && name.ends_with(".json")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// Whatever `expected` has must be in `found`, equal.
void expect_within(const Json& expected, const Json& found, const std::string& where) {
  if (expected.is_object() && found.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (key == "also") continue;
      ASSERT_TRUE(found.contains(key)) << where << " lacks " << key;
      expect_within(value, found[key], where + "." + key);
    }
  } else if (expected.is_array() && found.is_array()) {
    ASSERT_EQ(expected.size(), found.size()) << where;
    for (size_t i = 0; i < expected.size(); ++i) expect_within(expected[i], found[i], where + "[" + std::to_string(i) + "]");
  } else {
    EXPECT_EQ(expected, found) << where;
  }
}

Json run(const fs::path& path, const Json& expected) {
  const auto rules = Rules::create(nullptr, "");
  if (!rules) return rules.error().message;
  ImportOptions options;
  if (expected.contains("roof_gbps") && expected["format"] != "teapot") options.analysis.roof_gbps = expected["roof_gbps"].get<double>();
  if (expected.contains("device")) options.rank = expected["device"].get<int64_t>();
  const auto ranks = import_traces({path.string()}, *rules, options);
  return ranks ? to_json(*ranks, std::nullopt) : to_json(ranks.error());
}

void check_cases(const fs::path& root) {
  const std::vector<fs::path> files = answers(root);
  ASSERT_GE(files.size(), 31u);
  for (const fs::path& file : files) {
    Json expected = *read_json_file(file.string());
    std::vector<std::string> inputs = {expected["input"].get<std::string>()};
    if (expected.contains("also")) inputs.insert(inputs.end(), expected["also"].begin(), expected["also"].end());
    for (const std::string& input : inputs) {
      expected["input"] = input;
      expect_within(expected, run(file.parent_path() / input, expected), file.string() + " " + input);
    }
  }
}

TEST(TraceCases, EqualTheirAnswers) { check_cases(testing::test_data("traces")); }

TEST(TraceCases, SharedOnesEqualTheirAnswers) {
  const fs::path root = testing::shared_data("traces");
  TEAPOT_NEEDS(root);
  check_cases(root);
}

TEST(TraceCases, AnErrorSaysWhatWasFoundAndWhatWasExpected) {
  const fs::path root = testing::test_data("traces") / "broken";
  const auto message = [&](const std::string& path) { return run(root / path, Json::object())["message"].get<std::string>(); };
  EXPECT_NE(message("unknown_unit/kernel_details.csv").find("'cycles', expected s, ms, us or ns"), std::string::npos);
  EXPECT_NE(message("gzip_truncated/rank0.pt.trace.json.gz").find("ends at byte 4413"), std::string::npos);
  EXPECT_EQ(run(root / "gzip_truncated/rank0.pt.trace.json.gz", Json::object())["byte_offset"], 4413);
  EXPECT_NE(message("nothing_there").find("no such file"), std::string::npos);
}

TEST(TraceCases, SeveralRanksStandSideBySide) {
  const Json found = run(testing::test_data("traces") / "healthy", Json::object());
  ASSERT_EQ(found["ranks"].size(), 2u);
  EXPECT_EQ(found["ranks"][0]["rank"], 0);
  EXPECT_EQ(found["ranks"][1]["rank"], 1);
  // The rank that waits less is the slower one.
  const Json& order = found["slowest_first"];
  EXPECT_GE(order[0]["own_us"].get<double>(), order[1]["own_us"].get<double>());
  EXPECT_LE(order[0]["waits_for_another_rank_us"].get<double>(), order[1]["waits_for_another_rank_us"].get<double>());
}

TEST(TraceCases, ARankThatIsNotThereIsNamed) {
  const auto rules = Rules::create(nullptr, "");
  ImportOptions options;
  options.rank = 7;
  const auto ranks = import_traces({(testing::test_data("traces") / "nsight").string()}, *rules, options);
  ASSERT_FALSE(ranks);
  EXPECT_EQ(ranks.error().fault.error, "no such rank");
  EXPECT_NE(ranks.error().fault.message.find("found: 0, 1"), std::string::npos);
}

TEST(TraceCases, AnotherFormatThanAskedForIsAnError) {
  const auto rules = Rules::create(nullptr, "");
  ImportOptions options;
  options.format = "kineto";
  const auto ranks = import_traces({(testing::test_data("traces") / "teapot/trace.json").string()}, *rules, options);
  ASSERT_FALSE(ranks);
  EXPECT_NE(ranks.error().fault.message.find("of format teapot, not kineto"), std::string::npos);
}

TEST(TraceCases, StepsCanBeChosenByTheirIds) {
  const auto rules = Rules::create(nullptr, "");
  ImportOptions options;
  options.analysis.steps = {4, 5};
  const auto ranks = import_traces({(testing::test_data("traces") / "host_bound").string()}, *rules, options);
  ASSERT_TRUE(ranks) << ranks.error().fault.message;
  ASSERT_EQ(ranks->front().steps.size(), 2u);
  EXPECT_EQ(ranks->front().steps[0].step.id, "4");
  EXPECT_EQ(ranks->front().counted, 2u);
}

}  // namespace
}  // namespace teapot::workbench::trace
