#include "engine/step_recorder.h"

#include <gtest/gtest.h>

#include "engine/fake_server.h"
#include "engine/trace_json.h"

namespace teapot::engine {
namespace {

using Recorded = std::unique_ptr<Recording>;

RecordingOrders::Done into(Recorded& place) {
  return [&place](Recorded recording) { place = std::move(recording); };
}

Recorded room(uint32_t steps) { return std::make_unique<Recording>(1, steps); }

size_t count(const Recording& recording, std::string_view category, std::string_view name) {
  return static_cast<size_t>(std::ranges::count_if(
      recording.host(), [&](const RecordedSlice& slice) { return category == slice.category && name == slice.name; }));
}

TEST(StepRecorder, RecordsAsManyStepsAsWereAskedFor) {
  FakeServer server;
  Recorded recording;
  ASSERT_TRUE(server.scheduler.recordings().ask(room(4), into(recording)));
  const auto reply = server.run(greedy(some_tokens(20, 1), 10));
  EXPECT_EQ(reply.ids(), greedy_reply(some_tokens(20, 1), 10));
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->end, Recording::End::kSteps);
  ASSERT_EQ(recording->steps().size(), 4u);
  EXPECT_STREQ(recording->steps()[0].kind, "prefill");
  EXPECT_EQ(recording->steps()[0].prefill_rows, 20u);
  EXPECT_STREQ(recording->steps()[3].kind, "decode");
  EXPECT_EQ(recording->steps()[3].decode_rows, 1u);
  EXPECT_EQ(recording->steps()[3].tokens, 1u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(recording->runs(i).size(), 1u);
    EXPECT_LT(recording->steps()[i].began, recording->steps()[i].ended);
    EXPECT_LE(i == 0 ? 0 : recording->steps()[i - 1].ended, recording->steps()[i].began);
  }
  for (const auto& [category, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sched", "admit"}, {"copy", "packet"}, {"sched", "run"}, {"sample", "sample"}, {"sched", "publish"}, {"sched", "step"}}) {
    EXPECT_EQ(count(*recording, category, name), 4u) << name;
  }
  EXPECT_EQ(count(*recording, "sched", "hand-off"), 8u);
  EXPECT_EQ(count(*recording, "alloc", "open slot"), 1u);
  EXPECT_EQ(count(*recording, "plan", "build plan"), 2u);  // of 20 rows and of 1
}

TEST(StepRecorder, DraftStepsAreRunsOfTheStepThatVerifiesThem) {
  FakeServer server({.scheduler = {.draft_limit = 2, .draft_depth = 2}, .backend = {.mtp = true}});
  Recorded recording;
  ASSERT_TRUE(server.scheduler.recordings().ask(room(3), into(recording)));
  server.run(greedy(some_tokens(20, 1), 20));
  ASSERT_NE(recording, nullptr);
  ASSERT_EQ(recording->steps().size(), 3u);
  EXPECT_STREQ(recording->steps()[2].kind, "verify");
  std::vector<std::string> prefixes;
  for (const RecordedRun& run : recording->runs(2)) prefixes.emplace_back(run.prefix);
  EXPECT_EQ(prefixes, (std::vector<std::string>{"draft/", "draft/", ""}));
}

TEST(StepRecorder, WhatWasRecordedIsHandedOverWhenItIsStopped) {
  FakeServer server;
  Recorded recording;
  ASSERT_TRUE(server.scheduler.recordings().ask(room(100), into(recording)));
  Recorded another;
  EXPECT_EQ(server.scheduler.recordings().ask(room(1), into(another)).error().kind, ErrorKind::kBusy);
  server.submit(greedy(some_tokens(5, 1), 50));
  server.steps(3);
  EXPECT_EQ(recording, nullptr);
  server.scheduler.recordings().stop();
  server.steps(1);
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->end, Recording::End::kTime);
  EXPECT_EQ(recording->steps().size(), 3u);
  EXPECT_TRUE(server.scheduler.recordings().ask(room(1), into(another)));
  server.scheduler.close();
  ASSERT_NE(another, nullptr);
  EXPECT_TRUE(another->steps().empty());
  EXPECT_EQ(server.scheduler.recordings().ask(room(1), into(recording)).error().kind, ErrorKind::kBusy);
}

TEST(StepRecorder, NothingToDoIsNoPartOfAStep) {
  FakeServer server;
  Recorded recording;
  ASSERT_TRUE(server.scheduler.recordings().ask(room(6), into(recording)));
  server.run(greedy(some_tokens(5, 1), 3));
  server.run(greedy(some_tokens(5, 2), 3));
  server.steps(1);
  ASSERT_NE(recording, nullptr);
  ASSERT_EQ(recording->steps().size(), 6u);
  ASSERT_EQ(count(*recording, "idle", "no request"), 1u);
  const auto idle = std::ranges::find_if(recording->host(), [](const auto& slice) { return std::string_view(slice.category) == "idle"; });
  EXPECT_GE(idle->began, recording->steps()[2].ended);
  EXPECT_LE(idle->ended, recording->steps()[3].began);
}

TEST(StepRecorder, AStepThatFailedIsNone) {
  FakeServer server;
  Recorded recording;
  ASSERT_TRUE(server.scheduler.recordings().ask(room(100), into(recording)));
  server.submit(greedy(some_tokens(5, 1), 50));
  server.steps(2);
  server.backend.fail_next_run();
  server.steps(1);
  server.scheduler.recordings().stop();
  server.steps(1);
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->steps().size(), 2u);
  EXPECT_EQ(recording->runs().size(), 2u);
}

TEST(Recording, AStepThatHasNoRoomEndsIt) {
  Recording recording(1, 1000);
  plan::StepTrace trace;
  trace.workers.emplace_back(Recording::kMaxSpans / 2, plan::Span{"phase", 0, false, 0, 1, 2});
  const plan::PlanId plan{0};
  size_t steps = 0;
  for (; recording.add("", plan, trace, {}); ++steps) recording.end_step({"decode", 0, 1, 1, 0, 1, 0, 0});
  EXPECT_EQ(steps, 2u);
  EXPECT_EQ(recording.runs().size(), steps);
  EXPECT_EQ(recording.spans(recording.runs().front(), 0).size(), Recording::kMaxSpans / 2);
}

TEST(Recording, ItsTraceIsJsonWithoutAnyStep) {
  const auto json = parse_json(trace_json(Recording(2, 3), {}), "trace");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["otherData"]["format"], "teapot-trace");
  EXPECT_EQ((*json)["otherData"]["steps"], 0);
  EXPECT_EQ((*json)["otherData"]["steps_wanted"], 3);
}

}  // namespace
}  // namespace teapot::engine
