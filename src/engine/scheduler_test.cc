// Who is in a step, with how many rows; who waits; who leaves.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include "engine/fake_server.h"

namespace teapot::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double step_ms(uint32_t rows) { return 20 + 0.5 * rows; }

struct Rows {
  uint32_t decode = 0, prefill = 0;
};
Rows rows_of(const plan::StepPacket& packet) {
  Rows rows;
  for (const plan::SequenceRows& s : packet.sequences) (s.kind == plan::StepKind::kPrefill ? rows.prefill : rows.decode) += s.rows;
  return rows;
}

uint64_t room_bytes(uint32_t tokens) { return FakeBackend().state_bytes(tokens); }

TEST(Scheduler, AReplyIsWhatItsTokensDemand) {
  FakeServer server({.scheduler = {.prefill_chunk = 7}});
  for (const uint32_t size : {1u, 6u, 7u, 8u, 100u}) {
    const auto reply = server.run(greedy(some_tokens(size, size), 20));
    EXPECT_EQ(reply.ids(), greedy_reply(some_tokens(size, size), 20));
    EXPECT_EQ(reply.finish().reason, FinishReason::kLength);
    EXPECT_EQ(reply.finish().timings.completion_tokens, 20u);
    EXPECT_EQ(reply.finish().timings.prompt_tokens, size);
  }
  server.check_idle();
}

TEST(Scheduler, TheContextEndsAReplyWithoutALimit) {
  FakeServer server({.context = 50});
  EXPECT_EQ(server.run(greedy(some_tokens(20, 1), 0)).ids(), greedy_reply(some_tokens(20, 1), 30));
  EXPECT_EQ(server.run(greedy(some_tokens(49, 2), 10)).ids().size(), 1u);
}

// The lowest number is given out again at once: who takes an old table of slots for the new one is found out.
TEST(Scheduler, SlotsThatChangeHandsBetweenStepsWithoutAPrompt) {
  FakeServer server({.scheduler = {.max_seqs = 3, .prefill_chunk = 100, .prefix_cache = false}});
  std::vector<FakeServer::Reply> replies;
  for (uint32_t i = 0; i < 12; ++i) replies.push_back(server.submit(greedy(some_tokens(5 + i, i), 2 + i % 5)));
  server.run();
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(replies[i].ids(), greedy_reply(some_tokens(5 + i, i), 2 + i % 5)) << i;
  server.check_idle();
}

TEST(Scheduler, ABurstOfPromptsHoldsUpNoReply) {
  for (const double stretch : {1.25, 2.0}) {
    FakeServer* driven = nullptr;
    uint32_t mixed = 0;
    const auto on_run = [&](const plan::StepPacket& packet) {
      const auto [decode, prefill] = rows_of(packet);
      if (decode == 0) return;
      EXPECT_LE(prefill, driven->scheduler.cost().rows_within(decode, stretch, 64));
      if (prefill == 0) return;
      ++mixed;
      EXPECT_TRUE(prefill == 1 || step_ms(decode + prefill) <= stretch * step_ms(decode) + 1e-9);
    };
    FakeServer server(
        {.scheduler = {.max_seqs = 9, .prefill_chunk = 64, .tpot_stretch = stretch}, .backend = {.step_ms = step_ms, .on_run = on_run}});
    driven = &server;
    const auto first = server.submit(greedy(some_tokens(9, 99), 400));
    server.steps(3);
    std::vector<FakeServer::Reply> burst;
    for (uint32_t i = 0; i < 8; ++i) burst.push_back(server.submit(greedy(some_tokens(100 + i, i), 10)));
    const size_t before = first.ids().size();
    server.steps(50);
    EXPECT_EQ(first.ids().size(), before + 50);  // one a step
    server.run();
    EXPECT_GT(mixed, 10u);
    EXPECT_EQ(first.ids(), greedy_reply(some_tokens(9, 99), 400));
    for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(burst[i].ids(), greedy_reply(some_tokens(100 + i, i), 10));
  }
}

TEST(Scheduler, WithoutAStretchAPromptIsReadInWholeChunks) {
  std::vector<Rows> steps;
  FakeServer server({.scheduler = {.prefill_chunk = 64, .tpot_stretch = kInfinity},
                     .backend = {.step_ms = step_ms, .on_run = [&](const auto& packet) { steps.push_back(rows_of(packet)); }}});
  server.submit(greedy(some_tokens(9, 1), 50));
  server.steps(2);
  server.submit(greedy(some_tokens(150, 2), 2));
  steps.clear();
  server.steps(3);
  for (const Rows& rows : steps) EXPECT_EQ(rows.decode, 1u);
  EXPECT_EQ(steps[0].prefill, 64u);
  EXPECT_EQ(steps[1].prefill, 64u);
  EXPECT_EQ(steps[2].prefill, 22u);
}

TEST(Scheduler, WhatFindsNoMemoryWaitsAndNobodyOvertakesIt) {
  FakeServer server({.scheduler = {.prefix_cache = false}, .budget = {.running = room_bytes(256) + room_bytes(1024), .cache = 0}});
  const auto first = server.submit(greedy(some_tokens(200, 1), 20));
  const auto second = server.submit(greedy(some_tokens(300, 2), 600));
  const auto large = server.submit(greedy(some_tokens(500, 3), 400));
  const auto small = server.submit(greedy(some_tokens(10, 4), 5));
  while (!first.ended()) {
    server.steps(1);
    EXPECT_EQ(server.scheduler.running(), first.ended() ? 1u : 2u);
    EXPECT_EQ(server.scheduler.status().state_promised, room_bytes(1024) + (first.ended() ? 0 : room_bytes(256)));
  }
  while (!second.ended()) server.steps(1);
  EXPECT_FALSE(small.ended());  // there was room for it all the time
  server.steps(1);
  EXPECT_EQ(server.scheduler.running(), 2u);
  server.run();
  EXPECT_TRUE(large.ended() && small.ended());
  server.check_idle();
}

TEST(Scheduler, WhatCanNeverRunIsRefusedWithTheNumbers) {
  const FakeServer server({.scheduler = {.max_seqs = 4}, .budget = {.running = 3 * room_bytes(256), .cache = 0}});
  EXPECT_TRUE(server.scheduler.check_fits(3, 256));
  const Status bytes = server.scheduler.check_fits(3, 257);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(bytes.error().message, "3 sequences of up to 257 tokens would take 3 MiB; there are 3 MiB for running ones");
  const Status seats = server.scheduler.check_fits(5, 10);
  ASSERT_FALSE(seats);
  EXPECT_EQ(seats.error().message, "5 choices were asked for; at most 4 sequences run at a time");
}

TEST(Scheduler, TheQueueIsBoundedBesideWhatRuns) {
  FakeServer server({.scheduler = {.max_seqs = 1}, .queue = 2});
  const auto submit = [&] { return server.queue().push(std::make_shared<Job>()); };
  for (uint32_t i = 0; i < 3; ++i) server.submit(greedy(some_tokens(5, i), 5));
  ASSERT_FALSE(submit());
  EXPECT_EQ(submit().error().kind, ErrorKind::kBusy);
  server.steps(1);
  EXPECT_FALSE(submit());  // two wait now
  server.run();
  EXPECT_FALSE(server.queue().full());
}

TEST(Scheduler, ChoicesShareThePromptAndEndOnTheirOwn) {
  FakeServer server({.scheduler = {.max_seqs = 4}});
  GenerateRequest request{.prompt = some_tokens(40, 1), .sampling = {.temperature = 3, .seed = 7}, .max_tokens = 12};
  const auto alone = server.run(request, 4);
  for (size_t i = 1; i < 4; ++i) EXPECT_NE(alone.ids(i), alone.ids(0));
  EXPECT_EQ(server.scheduler.status().prefilled_tokens, 40u);
  auto again = server.submit(request, 4);
  again.sinks[1]->during_token = [](size_t tokens) { return tokens < 3; };
  server.steps(6);
  EXPECT_TRUE(again.ended(1));
  EXPECT_EQ(server.scheduler.running(), 3u);
  server.run();
  EXPECT_EQ(again.finish(1).reason, FinishReason::kStop);
  EXPECT_EQ(again.ids(1), first_of(alone.ids(1), 3));
  for (const size_t i : {0u, 2u, 3u}) EXPECT_EQ(again.ids(i), alone.ids(i));
  server.check_idle();
}

TEST(Scheduler, ACancelEndsTheChoicesThatAreLeft) {
  FakeServer server;
  auto reply = server.submit(greedy(some_tokens(10, 1), 100), 3);
  reply.sinks[1]->during_token = [](size_t tokens) { return tokens < 3; };
  server.steps(6);
  ASSERT_TRUE(reply.ended(1));
  server.cancel(reply);
  server.steps(1);
  for (const size_t i : {0u, 2u}) EXPECT_EQ(reply.finish(i).reason, FinishReason::kCancelled);
  server.check_idle();
}

TEST(Scheduler, ASeededReplyIsTheSameWhateverSharesItsSteps) {
  const std::vector<SamplingParams> kinds = {{.temperature = 1, .seed = 3},
                                             {.temperature = 2, .top_k = 5, .seed = 4},
                                             {.temperature = 1.5f, .top_k = 20, .logit_bias = {{3, 20}}, .seed = 5},
                                             {.temperature = 0, .repetition_penalty = 1.3f, .seed = 6}};
  const auto request = [&](uint32_t i) {
    return GenerateRequest{
        .prompt = some_tokens(10 + i, i), .sampling = kinds[i], .max_tokens = 30, .min_tokens = 10, .stop_token_ids = {1, 2, 3}};
  };
  for (const LogitsMask mask : {LogitsMask::kInline, LogitsMask::kRebuild}) {
    FakeServer server({.scheduler = {.prefill_chunk = 3, .logits_mask = mask},
                       .vocabulary = {.rows = FakeBackend::kVocab, .unsampled = {60, 61, 62, 63}, .stops = {9}}});
    std::vector<FakeServer::Reply> together;
    for (uint32_t i = 0; i < kinds.size(); ++i) together.push_back(server.submit(request(i)));
    server.run();
    for (uint32_t i = 0; i < kinds.size(); ++i) {
      const Tokens ids = together[i].ids();
      EXPECT_EQ(ids, server.run(request(i)).ids());
      EXPECT_GE(ids.size(), 10u);
      for (const int32_t id : ids) EXPECT_LT(id, 60);
    }
  }
}

// In the queue, behind another's prompt, in its own, in its reply.
TEST(Scheduler, WhoLeavesIsGoneWithinAStep) {
  for (uint32_t phase = 0; phase < 4; ++phase) {
    FakeServer server({.scheduler = {.max_seqs = 2, .prefill_chunk = 10},
                       .backend = {.step_ms = step_ms},
                       .budget = {.running = uint64_t{1} << 30, .cache = 0}});
    const Tokens prompt = some_tokens(100, 1);
    const auto other = server.submit(greedy(prompt, 300));
    if (phase == 0) server.submit(greedy(some_tokens(10, 3), 300));
    if (phase > 1) server.steps(12);
    const auto leaver = server.submit(greedy(phase < 2 ? joined(first_of(prompt, 80), {1, 2}) : some_tokens(50, 2), 30));
    server.steps(phase == 3 ? 8 : 2);
    const uint32_t running = server.scheduler.running();
    const uint32_t slots = server.backend.usage().slots;
    const uint64_t promised = server.scheduler.status().state_promised;
    server.cancel(leaver);
    server.steps(1);
    const bool ran = phase > 0;
    EXPECT_TRUE(leaver.ended());
    EXPECT_EQ(leaver.finish().reason, FinishReason::kCancelled);
    EXPECT_EQ(leaver.ids().empty(), phase < 3);
    EXPECT_EQ(server.scheduler.running(), running - ran);
    EXPECT_EQ(server.backend.usage().slots, slots - (phase > 1)) << phase;
    EXPECT_EQ(server.scheduler.status().state_promised, promised - ran * room_bytes(leaver.finish().timings.prompt_tokens + 30));
    server.run();
    EXPECT_EQ(other.ids(), greedy_reply(prompt, 300));
    server.check_idle();
  }
}

TEST(Scheduler, CloseEndsWhatRuns) {
  FakeServer server;
  const auto running = server.submit(greedy(some_tokens(10, 1), 100), 2);
  server.steps(5);
  server.scheduler.close();
  server.deliver();
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(running.finish(i).reason, FinishReason::kCancelled);
  EXPECT_EQ(server.backend.usage().slots, 0u);
  EXPECT_EQ(server.scheduler.running(), 0u);
}

}  // namespace
}  // namespace teapot::engine
