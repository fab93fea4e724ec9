#include "workbench/profile.h"

#include <gtest/gtest.h>

#include "base/ticks.h"
#include "workbench/trace/analysis.h"
#include "workbench/trace/json_reader.h"
#include "workbench/trace/resolve.h"

namespace teapot::workbench {
namespace {

uint64_t at(double us) { return static_cast<uint64_t>(us * 1000 * ticks_per_ns()); }

plan::Span span(const char* phase, uint32_t op, bool serial, double began, double arrived, double released) {
  return {phase, op, serial, at(began), at(arrived), at(released)};
}

// Two workers; op 0 has one phase, op 2 two, the second of which ends with a serial piece.
plan::StepTrace made_up() {
  plan::StepTrace trace;
  trace.ended = at(100);
  trace.ops = {"norm_project 0", "route 0", "moe 0"};
  trace.workers = {{span("project", 0, false, 0, 30, 40), span("router", 2, true, 40, 60, 65), span("down", 2, false, 65, 80, 90)},
                   {span("project", 0, true, 1, 40, 40), span("router", 2, false, 40, 50, 65), span("down", 2, true, 66, 90, 90)}};
  return trace;
}

TEST(Profile, AddsUpPhasesOfAllWorkers) {
  const std::vector<OpBytes> bytes = {{"attention projections", 1000}, {"", 0}, {"experts", 600}};
  const std::vector<ProfileRow> rows = profile_rows({made_up(), made_up()}, bytes);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].op, "norm_project (attention projections)");
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].bytes, 1000u);
  EXPECT_NEAR(rows[0].us, 40, 0.01);
  EXPECT_NEAR(rows[0].wait_us, 5, 0.01);
  EXPECT_EQ(rows[1].op, "moe (experts)");
  EXPECT_EQ(rows[1].calls, 1);
  EXPECT_NEAR(rows[1].us, 50, 0.01);
  EXPECT_NEAR(rows[1].wait_us, 12.5, 0.01);
  EXPECT_NEAR(rows[1].serial_us, 5, 0.01);
  EXPECT_EQ(rows[2].op, "router");
  EXPECT_TRUE(rows[2].phase);
  EXPECT_NEAR(rows[2].us, 25, 0.01);
  EXPECT_EQ(rows[3].op, "down");
}

TEST(Profile, TheTraceHasATrackAWorker) {
  Profile profile;
  profile.traces = {made_up()};
  const Json trace = chrome_trace(profile);
  size_t ops = 0, waits = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_LE(event.at("tid").get<int>(), 2);
    const std::string category = event.at("cat");
    ops += category == "op";
    waits += category == "wait";
  }
  EXPECT_EQ(ops, 7u);  // six phases and a serial piece; those of no length are left out
  EXPECT_EQ(waits, 3u);
}

TEST(Profile, TheImporterReadsOurOwnTrace) {
  Profile profile;
  profile.read_gbs = 10;
  profile.traces = {made_up(), made_up()};
  profile.op_bytes = {{"x", 4000}, {"", 0}, {"y", 0}};
  profile.traces[1].began += at(200);
  profile.traces[1].ended += at(200);
  for (auto& spans : profile.traces[1].workers) {
    for (plan::Span& span : spans) {
      span.began += at(200);
      span.arrived += at(200);
      span.released += at(200);
    }
  }
  const auto rules = trace::Rules::create(nullptr, "");
  const std::string text = dump_json(chrome_trace(profile));
  auto stream = trace::ByteStream::over(text, "own");
  trace::RawTrace raw;
  ASSERT_TRUE(trace::read_json_trace(*stream, raw));
  auto slices = trace::resolve(std::move(raw), *rules, "own");
  ASSERT_TRUE(slices) << slices.error().message;
  const auto analysis = trace::analyse(std::move(*slices), *rules, {}, "own");
  ASSERT_TRUE(analysis) << analysis.error().message;
  EXPECT_TRUE(analysis->warnings.empty());
  ASSERT_EQ(analysis->steps.size(), 2u);
  const trace::StepTimes& first = analysis->steps[0];
  EXPECT_EQ(first.wall_ns(), 200'000);
  EXPECT_EQ(first.weight_bytes, 4000);
  const auto us = [&](trace::Class kind) { return static_cast<double>(first.ns[static_cast<size_t>(kind)]) / 1000; };
  EXPECT_NEAR(us(trace::Class::kBandwidth), 90, 0.1);  // worker 1's serial piece at 60 to 65 is work, too
  EXPECT_NEAR(us(trace::Class::kHost), 110, 0.1);      // the end of the step, and what lies between steps
}

TEST(Profile, TextSaysWhatIsLeftBetweenPhases) {
  Profile profile;
  profile.step_us = 100;
  profile.read_gbs = 10;
  profile.rows = profile_rows({made_up()}, {{"x", 100'000}, {"", 0}, {"", 0}});
  const std::string text = to_text(profile);
  EXPECT_NE(text.find("between phases"), std::string::npos);
  EXPECT_NE(text.find("10.0"), std::string::npos);  // us between phases
  EXPECT_NE(text.find("    router"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
