#include "workbench/trace/rules.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "test_data.h"

namespace teapot::workbench::trace {
namespace {

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string device(const Rules& rules, Tracks tracks, const std::string& name, const std::string& core) {
  const DeviceClass kind = rules.device(tracks, name, core);
  return kind ? std::string(name_of(*kind)) : "wait";
}

constexpr std::array<std::string_view, kRoles> kRoleNames = {"memory", "copy", "graph", "comm", "host", "sync"};

// track, name, core, class: names met in real traces.
TEST(TraceRules, EveryNameOfTheTableHasItsClass) {
  const auto rules = Rules::create(nullptr, "");
  ASSERT_TRUE(rules) << rules.error().message;
  size_t checked = 0;
  for (const std::string& line : split(*read_file(testing::test_data("traces/name_rules_test.tsv").string()), '\n')) {
    const std::vector<std::string> row = split(line, '\t');
    if (row.size() != 4 || row[0].starts_with('#')) continue;
    ++checked;
    if (row[0] == "host") {
      EXPECT_EQ(kRoleNames[static_cast<size_t>(rules->host(row[1]))], row[3]) << line;
    } else if (row[0] == "marker") {
      EXPECT_EQ(rules->marker(row[1]), row[3]) << line;
    } else {
      EXPECT_EQ(device(*rules, row[0] == "ascend_device" ? Tracks::kAscend : Tracks::kCuda, row[1], row[2]), row[3]) << line;
    }
  }
  EXPECT_GE(checked, 120u);
}

TEST(TraceRules, AFileGoesBeforeTheBuiltInOnes) {
  const Json extra = Json::parse(
      R"({"cuda_device": [["graph", "^my_gemm"]], "host": [["memory", "^my_pool"]], "teapot": {"op": {"embed": "bandwidth"}}})");
  const auto rules = Rules::create(extra, "mine.json");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(device(*rules, Tracks::kCuda, "my_gemm_1", ""), "graph");
  EXPECT_EQ(device(*rules, Tracks::kCuda, "other_gemm", ""), "bandwidth");
  EXPECT_EQ(rules->host("my_pool"), Role::kMemory);
  EXPECT_EQ(rules->own_op("embed"), Class::kBandwidth);
}

TEST(TraceRules, TheWholeBuiltInTableIsAFileToo) { EXPECT_TRUE(Rules::create(Rules::built_in(), "copy.json")); }

TEST(TraceRules, WhatIsWrongInAFileIsNamed) {
  const auto message = [](const char* text) {
    const auto rules = Rules::create(Json::parse(text), "mine.json");
    return rules ? std::string() : rules.error().message;
  };
  EXPECT_EQ(message(R"({"hosts": []})"), "mine.json: unknown key 'hosts'");
  EXPECT_NE(message(R"({"host": [["compute", "x"]]})").find("unknown role 'compute'"), std::string::npos);
  EXPECT_NE(message(R"({"host": [["sync", "x", "y"]]})").find("expected [class, pattern]"), std::string::npos);
  EXPECT_NE(message(R"({"cuda_device": [["comm", "("]]})").find("pattern '('"), std::string::npos);
  EXPECT_NE(message(R"({"gap_order": ["host"]})").find("cannot be another"), std::string::npos);
  EXPECT_NE(message("[]").find("no object"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench::trace
