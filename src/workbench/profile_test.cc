#include "workbench/profile.h"

#include <gtest/gtest.h>

#include "base/ticks.h"
#include "engine/trace_json.h"
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
  trace.workers = {{span("project", 0, false, 0, 30, 40), span("router", 2, true, 40, 60, 65), span("down", 2, false, 65, 80, 90)},
                   {span("project", 0, true, 1, 40, 40), span("router", 2, false, 40, 50, 65), span("down", 2, true, 66, 90, 90)}};
  return trace;
}

const std::vector<plan::OpTraffic> kTraffic = {{.op = 0, .weight_bytes = 4000}, {.op = 1, .weight_bytes = 300}};

// Steps that begin at multiples of 200 us.
std::shared_ptr<engine::Recording> recorded(uint32_t steps) {
  auto recording = std::make_shared<engine::Recording>(2, steps);
  for (uint32_t i = 0; i < steps; ++i) {
    plan::StepTrace trace = made_up();
    const uint64_t later = at(200) * i;
    for (auto& spans : trace.workers) {
      for (plan::Span& span : spans) {
        span.began += later;
        span.arrived += later;
        span.released += later;
      }
    }
    EXPECT_TRUE(recording->add("", plan::PlanId{0}, trace, kTraffic));
    recording->end_step({"decode", later, later + at(100), 1, 0, 1, 3, 0});
  }
  recording->ops[plan::PlanId{0}] = {"norm_project 0", "route 0", "moe 0"};
  recording->faults_by = "perf_event";
  return recording;
}

TEST(Profile, AddsUpPhasesOfAllWorkers) {
  const std::vector<OpBytes> bytes = {{"attention projections", 1000}, {"", 0}, {"experts", 600}};
  const std::vector<ProfileRow> rows = profile_rows(*recorded(2), bytes);
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
  const auto trace = parse_json(engine::trace_json(*recorded(1), {}), "trace");
  ASSERT_TRUE(trace) << trace.error().message;
  size_t ops = 0, waits = 0;
  for (const Json& event : trace->at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_LE(event.at("tid").get<int>(), 3);
    const std::string category = event.at("cat");
    ops += category == "op";
    waits += category == "wait";
  }
  EXPECT_EQ(ops, 7u);  // six phases and a serial piece; those of no length are left out
  EXPECT_EQ(waits, 3u);
}

TEST(Profile, TheImporterReadsOurOwnTrace) {
  engine::TraceFacts facts;
  facts.roof_gbps = 10;
  const auto rules = trace::Rules::create(nullptr, "");
  const std::string text = engine::trace_json(*recorded(2), facts);
  auto stream = trace::ByteStream::over(text, "own");
  trace::RawTrace raw;
  ASSERT_TRUE(trace::read_json_trace(*stream, raw));
  auto slices = trace::resolve(std::move(raw), *rules, "own");
  ASSERT_TRUE(slices) << slices.error().message;
  const auto analysis = trace::analyse(std::move(*slices), *rules, {}, "own");
  ASSERT_TRUE(analysis) << analysis.error().message;
  EXPECT_TRUE(analysis->warnings.empty());
  EXPECT_EQ(analysis->roof_gbps, 10);
  ASSERT_EQ(analysis->steps.size(), 2u);
  const trace::StepTimes& first = analysis->steps[0];
  EXPECT_EQ(first.wall_ns(), 200'000);
  EXPECT_EQ(first.step.kind, "decode");
  EXPECT_EQ(first.step.page_faults, 3);
  EXPECT_EQ(analysis->page_faults_by, "perf_event");
  EXPECT_EQ(first.weight_bytes, 4000);  // the router's are the router's
  const auto us = [&](trace::Class kind) { return static_cast<double>(first.ns[static_cast<size_t>(kind)]) / 1000; };
  EXPECT_NEAR(us(trace::Class::kBandwidth), 65, 0.1);  // norm_project, and the experts' down projection
  EXPECT_NEAR(us(trace::Class::kUseful), 25, 0.1);     // the router; worker 0's serial piece at 60 to 65 is work, too
  EXPECT_NEAR(us(trace::Class::kHost), 110, 0.1);      // the end of the step, and what lies between steps
  EXPECT_EQ(analysis->workers, 2u);
  EXPECT_NEAR(static_cast<double>(analysis->barrier_ns) / 1000, 10 + 15 + 10, 0.1);
}

TEST(Profile, TextSaysWhatIsLeftBetweenPhases) {
  Profile profile;
  profile.step_us = 100;
  profile.read_gbs = 10;
  profile.rows = profile_rows(*recorded(1), {{"x", 100'000}, {"", 0}, {"", 0}});
  const std::string text = to_text(profile);
  EXPECT_NE(text.find("between phases"), std::string::npos);
  EXPECT_NE(text.find("10.0"), std::string::npos);  // us between phases
  EXPECT_NE(text.find("    router"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
