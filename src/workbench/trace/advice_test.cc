// The table of levers names knobs that there are.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "engine/load_engine.h"
#include "test_data.h"
#include "workbench/assets.h"
#include "workbench/trace/rules.h"
#include "workbench/tune/catalogue.h"

namespace teapot::workbench::trace {
namespace {

// fn(lever) for each of a server's.
template <class F>
void for_levers(const std::string& server, F&& fn) {
  const Json table = Json::parse(find_asset("trace_advice.json"));
  for (const auto& [kind, levers] : table.at("levers").at(server).items()) {
    EXPECT_NE(std::ranges::find(kClassNames, kind), kClassNames.end()) << kind;
    for (const Json& lever : levers) fn(lever);
  }
}

TEST(TraceAdvice, OursAreSwitchesOfThisProgram) {
  TEAPOT_NEEDS(teapot::testing::demo_model());
  const engine::EngineOptions options{.backend = {.threads = 1, .bind = "off"}, .warmup = 0};
  const auto loaded = engine::load_engine(teapot::testing::demo_model().string(), options, /*text_needed=*/false);
  ASSERT_TRUE(loaded) << loaded.error().message;
  std::set<std::string> switches;
  for (const plan::SwitchReport& report : loaded->engine->switches()) switches.insert(report.name);
  for_levers("teapot", [&](const Json& lever) {
    const std::string knob = lever.at("knob");
    EXPECT_TRUE(switches.contains(knob)) << knob;
  });
}

TEST(TraceAdvice, TheOthersAreKnobsOfTheirCatalogues) {
  for (const char* server : {"vllm-ascend", "vllm", "sglang"}) {
    const auto catalogue = load_catalogue(server);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    std::set<std::string> knobs;
    for (const Knob& knob : catalogue->knobs) knobs.insert(knob.name);
    for_levers(server, [&](const Json& lever) {
      const std::string knob = lever.at("knob");
      EXPECT_TRUE(knobs.contains(knob)) << server << ": " << knob;
    });
  }
}

TEST(TraceAdvice, EachHasItsSource) {
  for (const char* server : {"vllm-ascend", "vllm", "sglang", "teapot"}) {
    size_t count = 0;
    for_levers(server, [&](const Json& lever) {
      ++count;
      EXPECT_FALSE(lever.at("evidence").get<std::string>().empty()) << lever.dump();
      const Json& expected = lever.at("expected_percent");
      EXPECT_TRUE(expected.is_null() || expected.at(0).get<double>() <= expected.at(1).get<double>()) << lever.dump();
    });
    EXPECT_GT(count, 5u) << server;
  }
}

// Rows of the ladder in docs/levers.md: "wait: futex → spin-futex" and the bounds of its change in percent.
std::map<std::string, std::pair<double, double>> measured_rungs() {
  std::map<std::string, std::pair<double, double>> rungs;
  const auto text = read_file(TEAPOT_SOURCE_DIR "/docs/levers.md");
  if (!text) return rungs;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    for (size_t bar = line.find("| "), end = 0; (end = line.find(" |", bar + 1)) != line.npos; bar = end + 1)
      cells.push_back(line.substr(bar + 2, end - bar - 2));
    double low = 0, high = 0;
    if (cells.size() == 8 && cells[0].contains(" → ") && std::sscanf(cells[5].c_str(), "%lf to %lf", &low, &high) == 2)
      rungs.try_emplace(cells[0], low, high);  // the way up stands first
  }
  return rungs;
}

TEST(TraceAdvice, OursHaveTheRangeThatTheLadderMeasuredOrTheReasonWhyNone) {
  const auto rungs = measured_rungs();
  ASSERT_GT(rungs.size(), 15u);
  for_levers("teapot", [&](const Json& lever) {
    const std::string evidence = lever.at("evidence");
    const Json& expected = lever.at("expected_percent");
    if (expected.is_null()) {
      EXPECT_TRUE(evidence.contains("no figure")) << lever.dump();
      return;
    }
    if (!evidence.contains("the ladder")) {
      EXPECT_EQ(lever.at("knob"), "mtp") << lever.dump();  // measured with longer replies
      return;
    }
    size_t named = 0;
    double low = 1, high = 1;
    for (const auto& [rung, range] : rungs) {
      if (!evidence.contains(rung)) continue;
      EXPECT_TRUE(rung.starts_with(lever.at("knob").get<std::string>() + ":")) << lever.dump();
      ++named;
      low *= 1 + range.first / 100;
      high *= 1 + range.second / 100;
    }
    EXPECT_GT(named, 0u) << lever.dump();
    EXPECT_NEAR(expected.at(0).get<double>(), 100 * (low - 1), 0.06) << lever.dump();
    EXPECT_NEAR(expected.at(1).get<double>(), 100 * (high - 1), 0.06) << lever.dump();
  });
}

}  // namespace
}  // namespace teapot::workbench::trace
