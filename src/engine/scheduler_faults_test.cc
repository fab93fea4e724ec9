// Steps that fail and logits that are none: who ends, who goes on, and that nothing bad is kept.
#include <gtest/gtest.h>

#include "engine/fake_server.h"

namespace teapot::engine {
namespace {

constexpr int32_t kNan = 63;  // gives NaN

FakeServer::Options small_steps(bool recurrent = true) {
  return {.scheduler = {.prefill_chunk = 8, .tpot_stretch = 1000}, .backend = {.sizes = {.recurrent = recurrent}, .nan_token = kNan}};
}

Tokens prompt_of(uint32_t own) { return joined(some_tokens(60, 1), some_tokens(20, own)); }

void expect_right(const FakeServer::Reply& reply, const Tokens& prompt) {
  ASSERT_TRUE(reply.ended());
  EXPECT_EQ(reply.finish().reason, FinishReason::kLength);
  EXPECT_EQ(reply.ids(), greedy_reply(prompt, static_cast<uint32_t>(reply.ids().size())));
  EXPECT_EQ(reply.ids().size(), 5u);
}
void expect_error(const FakeServer::Reply& reply, const char* message, size_t choice = 0) {
  ASSERT_TRUE(reply.ended(choice));
  ASSERT_EQ(reply.finish(choice).reason, FinishReason::kError);
  EXPECT_NE(reply.finish(choice).error->message.find(message), std::string::npos) << reply.finish(choice).error->message;
}

// The first of five that read the same beginning ends in the middle of it.
TEST(SchedulerFaults, WhoWaitsForAnothersPromptDoesNotShareItsFate) {
  for (const bool recurrent : {true, false}) {
    for (const uint32_t steps : {0u, 1u, 3u, 7u, 8u}) {
      for (const bool cancelled : {true, false}) {
        FakeServer server(small_steps(recurrent));
        std::vector<FakeServer::Reply> replies;
        for (uint32_t i = 0; i < 5; ++i) replies.push_back(server.submit(greedy(prompt_of(i), 5)));
        server.steps(steps);
        if (cancelled) {
          server.cancel(replies[0]);
        } else {
          server.backend.fail_next_run();
        }
        server.run();
        if (cancelled) {
          EXPECT_EQ(replies[0].finish().reason, FinishReason::kCancelled);
        } else {
          expect_error(replies[0], "told to fail");
        }
        // From the seventh step on the others have states of their own, and rows in the step that fails.
        for (uint32_t i = 1; i < 5 && (cancelled || steps < 7); ++i) expect_right(replies[i], prompt_of(i));
        server.check_idle();
      }
    }
  }
}

TEST(SchedulerFaults, WhoWaitsForAPromptThatGivesNanBeginsAnew) {
  FakeServer server(small_steps());
  GenerateRequest request = greedy(joined(some_tokens(60, 1), {kNan}), 5);
  const auto first = server.submit(request);
  const auto whole = server.submit(greedy(joined(request.prompt, {5}), 5));
  server.run();
  expect_error(first, "NaN");
  expect_right(whole, joined(request.prompt, {5}));
  server.check_idle();
}

TEST(SchedulerFaults, ARequestThatGaveNanLeavesNoState) {
  FakeServer server(small_steps());
  GenerateRequest request = greedy(some_tokens(1200, 1), 5);
  request.message_end = 1100;
  const auto bad = server.submit(request);
  server.steps(70);
  EXPECT_EQ(server.scheduler.status().checkpoints, 1u);
  server.backend.give_nan(plan::SlotId{0});
  server.run();
  expect_error(bad, "NaN");
  EXPECT_EQ(server.scheduler.status().checkpoints, 0u);
  const auto good = server.run(request);
  expect_right(good, request.prompt);
  EXPECT_EQ(good.finish().timings.cached_tokens, 0u);
}

// It may have been kept before anybody saw its logits.
TEST(SchedulerFaults, AStateFromWhichNanCameIsKeptNoLonger) {
  FakeServer server(small_steps());
  const Tokens prompt = some_tokens(80, 1);
  server.run(greedy(prompt, 5));
  const Tokens turn = joined(joined(prompt, greedy_reply(prompt, 5)), some_tokens(20, 2));
  const auto second = server.submit(greedy(turn, 5));
  server.steps(1);
  const auto open = server.backend.states().open_slots();
  for (const auto& [slot, state] : open) {
    if (state.committed > 84) server.backend.give_nan(slot);
  }
  server.run();
  expect_error(second, "NaN");
  EXPECT_EQ(second.finish().timings.cached_tokens, 84u);
  EXPECT_EQ(server.scheduler.status().checkpoints, 0u);
  const auto third = server.run(greedy(turn, 5));
  expect_right(third, turn);
  EXPECT_EQ(third.finish().timings.cached_tokens, 0u);
}

TEST(SchedulerFaults, AFailedStepEndsThoseInItAndNobodyElse) {
  FakeServer server(small_steps());
  const auto decoding = server.submit(greedy(some_tokens(10, 2), 100), 2);
  server.steps(5);
  const auto reading = server.submit(greedy(some_tokens(100, 3), 5), 3);
  const auto behind = server.submit(greedy(some_tokens(50, 4), 5));  // has a state, but no rows yet
  server.steps(2);
  server.backend.fail_next_run();
  server.steps(1);
  for (size_t i = 0; i < 2; ++i) expect_error(decoding, "told to fail", i);
  for (size_t i = 0; i < 3; ++i) expect_error(reading, "told to fail", i);
  EXPECT_EQ(server.scheduler.running(), 1u);
  server.run();
  expect_right(behind, some_tokens(50, 4));
  server.check_idle();
}

// Memory that was promised may be gone all the same.
TEST(SchedulerFaults, AStateThatCannotBeForkedIsItsRequestsFaultAlone) {
  FakeServer server(small_steps());
  const auto first = server.submit(greedy(prompt_of(1), 5));
  const auto second = server.submit(greedy(prompt_of(2), 5), 2);
  const auto third = server.submit(greedy(prompt_of(3), 5));
  server.steps(7);
  server.backend.fail_next_fork();
  server.run();
  expect_right(first, prompt_of(1));
  for (size_t i = 0; i < 2; ++i) expect_error(second, "fork was told to fail", i);
  expect_right(third, prompt_of(3));
  server.check_idle();
}

TEST(SchedulerFaults, AChoiceThatCannotBeForked) {
  FakeServer server(small_steps());
  const auto choices = server.submit(greedy(some_tokens(10, 1), 5), 3);
  server.steps(1);
  server.backend.fail_next_fork();
  server.run();
  expect_right(choices, some_tokens(10, 1));
  expect_error(choices, "fork was told to fail", 1);
  EXPECT_EQ(choices.ids(2), choices.ids(0));
  server.check_idle();
}

// The system refuses what the prefix cache still holds: who waits comes before it.
TEST(SchedulerFaults, PrefixesGiveTheirMemoryBackWhenTheSystemRefusesMore) {
  FakeServer server({.backend = {.sizes = {.own_bytes = 100, .page_bytes = 10, .memory_bytes = 400}}});
  for (int i = 0; i < 6; ++i) {
    const auto reply = server.submit(greedy(some_tokens(20, i), 5));
    server.run();
    expect_right(reply, some_tokens(20, i));
  }
  const auto again = server.submit(greedy(some_tokens(20, 5), 5), 3);  // forks, one from a prefix and two from a sequence
  server.run();
  expect_right(again, some_tokens(20, 5));
  for (size_t i = 1; i < 3; ++i) EXPECT_EQ(again.ids(i), again.ids(0));
  server.check_idle();
}

TEST(SchedulerFaults, ACheckpointThatCannotBeForkedIsDoneWithout) {
  FakeServer server(small_steps());
  const auto reply = server.submit(greedy(some_tokens(600, 1), 5));
  server.steps(63);
  server.backend.fail_next_fork();
  server.steps(3);
  EXPECT_EQ(server.scheduler.status().checkpoints, 0u);
  server.run();
  expect_right(reply, some_tokens(600, 1));
  server.check_idle();
}

TEST(SchedulerFaults, AStepThatFailsAfterTheEndOfAReplyDoesNotSpoilIt) {
  FakeServer server(small_steps());
  auto reply = server.submit(greedy(some_tokens(10, 1), 100));
  reply.sinks[0]->during_token = [](size_t tokens) { return tokens < 4; };
  for (uint32_t i = 0; i < 5; ++i) server.step();
  server.backend.fail_next_run();
  server.step();
  server.deliver();
  EXPECT_EQ(reply.finish().reason, FinishReason::kStop);
  EXPECT_FALSE(reply.finish().error);
  EXPECT_EQ(reply.ids(), greedy_reply(some_tokens(10, 1), 4));
  server.check_idle();
}

TEST(SchedulerFaults, AfterAFaultOfItsOwnTheSchedulerIsEmptyAndGoesOn) {
  FakeServer::Options options = small_steps();
  bool thrown = false;
  options.backend.on_run = [&](const plan::StepPacket& packet) {
    if (packet.tokens.size() != 3 || std::exchange(thrown, true)) return;
    throw std::bad_alloc();
  };
  FakeServer server(options);
  const auto choices = server.submit(greedy(some_tokens(8, 1), 50), 3);
  const auto waiting = server.submit(greedy(joined(some_tokens(8, 1), prompt_of(5)), 5));
  server.step();
  EXPECT_THROW(for (uint32_t i = 0; i < 100; ++i) server.step(), std::bad_alloc);
  EXPECT_NE(server.scheduler.step_began(), 0);
  server.scheduler.fail_all(Error{ErrorKind::kInternal, "out of memory"});
  server.deliver();
  EXPECT_EQ(server.scheduler.step_began(), 0);
  for (size_t i = 0; i < 3; ++i) expect_error(choices, "out of memory", i);
  server.check_idle();
  server.run();
  EXPECT_TRUE(waiting.ended());
  expect_right(server.run(greedy(prompt_of(5), 5)), prompt_of(5));
}

}  // namespace
}  // namespace teapot::engine
