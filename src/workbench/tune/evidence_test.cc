#include "workbench/tune/evidence.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

constexpr const char* kPage =
    R"({"threads": {"requested": 8, "active": "8"}, "static": {"requested": "on", "active": "off", "reason": "needs a graph"},
  "switches": [{"name": "wait", "active": true}, {"name": "plan", "active": "static"}]})";

Sources sources() {
  Sources found;
  found.get = [](const std::string& target) -> std::optional<std::string> {
    if (target == "/info") return kPage;
    return std::nullopt;
  };
  found.log = "starting\nCapturing graphs (decode) 8 of 8\nprefetch is not supported here\n";
  found.grown = parse_counters(
      "# HELP a x\na:accepted 31\na:drafted{model=\"m\"} 50\na:drafted{model=\"n\"} 50\na:eager 0\na:graph 7 1700000000\nbroken\n");
  found.process = [](const std::string& file) -> std::optional<std::string> {
    if (file == "maps") return "7f00 /usr/lib/libjemalloc.so.2\n";
    return std::nullopt;
  };
  return found;
}

Evidence look(CheckKind kind, const std::string& what, const KnobValue& value = "1") {
  Knob knob;
  knob.name = "k";
  knob.check = kind;
  knob.check_what = what;
  return look_for(knob, value, sources());
}

TEST(Evidence, APageSaysWhatIsActive) {
  EXPECT_EQ(look(CheckKind::kHttp, "/info threads.active", "8").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "GET /info threads.active", "8.0").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info threads.active", "4").seen, Seen::kNo);
  const Evidence inert = look(CheckKind::kHttp, "/info static.active", "on");
  EXPECT_EQ(inert.seen, Seen::kNo);
  EXPECT_EQ(inert.what, "/info says static.active = off: needs a graph");
  EXPECT_EQ(look(CheckKind::kHttp, "/info static.active", "off").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.wait.active", "on").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.plan.active", "static").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kHttp, "/info switches.plan.active", "auto").seen, Seen::kNobodyCanTell) << "auto becomes something";
  for (const char* nothing : {"/info no.such", "/other threads.active", "words about /info", "/info two words"}) {
    EXPECT_EQ(look(CheckKind::kHttp, nothing, "8").seen, Seen::kNobodyCanTell) << nothing;
  }
}

TEST(Evidence, CountersThatShouldOrShouldNotGrow) {
  EXPECT_EQ(look(CheckKind::kMetric, "a:eager must not grow").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must not grow").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must grow").seen, Seen::kYes);
  const Evidence share = look(CheckKind::kMetric, "a:accepted / a:drafted = 0.4..0.62");
  EXPECT_EQ(share.seen, Seen::kYes);
  EXPECT_EQ(share.what, "a:accepted / a:drafted = 0.31") << "what is usual is shown, not asked for";
  EXPECT_EQ(look(CheckKind::kMetric, "a:accepted / a:eager = 0.4..0.62").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kMetric, "a:eager = 0").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kMetric, "a:none must grow").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kMetric, "a:graph must not grow", "off").seen, Seen::kNobodyCanTell) << "what is off leaves no traces";
}

TEST(Evidence, TheLogAndTheProcess) {
  EXPECT_EQ(look(CheckKind::kLog, "\"Capturing graphs (decode) ..\"; more words").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kLog, "\"Something else\"").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, "\"prefetch is not supported\" must be absent").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kLog, "\"graphs are disabled\" must be absent").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kLog, "a line without quotes").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kProcess, "/proc/PID/maps names libjemalloc").seen, Seen::kYes);
  EXPECT_EQ(look(CheckKind::kProcess, "/proc/PID/maps names libtcmalloc").seen, Seen::kNo);
  EXPECT_EQ(look(CheckKind::kProcess, "numa_maps, taskset").seen, Seen::kNobodyCanTell);
  EXPECT_EQ(look(CheckKind::kEcho, "whatever").seen, Seen::kNobodyCanTell);
}

TEST(Counters, FormulasOverThem) {
  const Counters counters = {{"a:x", 6}, {"y", 3}, {"zero", 0}};
  const auto value = [&](std::string_view formula) { return evaluate(formula, counters).value().value(); };
  EXPECT_EQ(value("a:x / y"), 2);
  EXPECT_EQ(value("1 + a:x / y"), 3);
  EXPECT_EQ(value("(1 + a:x) * y - 2"), 19);
  EXPECT_FALSE(evaluate("1 + a:x / zero", counters)->has_value());
  for (const char* wrong : {"", "a:x y", "a:x /", "(y", "no counter: words"}) EXPECT_FALSE(evaluate(wrong, counters)) << wrong;
  EXPECT_EQ(evaluate("unknown", counters).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(evaluate(std::string(1000, '('), counters));
  EXPECT_EQ(growth({{"y", 1}}, counters).at("y"), 2);
}

}  // namespace
}  // namespace teapot::workbench
