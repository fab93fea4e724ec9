// The table of levers names knobs that there are.
#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace teapot::workbench::trace
