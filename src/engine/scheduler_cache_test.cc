// Prompts that begin alike: what is read once, what is kept, and that what is kept is what it says.
#include <gtest/gtest.h>

#include "engine/fake_server.h"

namespace teapot::engine {
namespace {

FakeSizes model(bool recurrent) { return {.recurrent = recurrent}; }
uint64_t checkpoint_bytes(uint32_t tokens) { return FakeBackend().state_bytes(tokens); }

// The next turn of a conversation.
Tokens next_turn(const GenerateRequest& request, const Tokens& reply, const Tokens& said) {
  return joined(joined(request.prompt, reply), said);
}

TEST(SchedulerCache, StatesNearTheBordersOfPagesAndCheckpoints) {
  for (const bool recurrent : {true, false}) {
    for (const uint32_t border : {256u, 512u, 1024u}) {
      for (uint32_t size = border - 2; size <= border + 2; ++size) {
        FakeServer server({.scheduler = {.prefill_chunk = 100}, .backend = {.sizes = model(recurrent)}});
        const GenerateRequest first = greedy(some_tokens(size, 1), 6);
        const Tokens reply = server.run(first).ids();
        EXPECT_EQ(reply, greedy_reply(first.prompt, 6));

        const Tokens turn = next_turn(first, reply, some_tokens(20, 2));
        const auto second = server.run(greedy(turn, 6));
        EXPECT_EQ(second.ids(), greedy_reply(turn, 6));
        EXPECT_EQ(second.finish().timings.cached_tokens, size + 5);  // the last token of a reply was never read

        const Tokens aside = joined(first_of(first.prompt, size - 1), some_tokens(30, first.prompt.back() + 1u));
        const auto third = server.run(greedy(aside, 6));
        EXPECT_EQ(third.ids(), greedy_reply(aside, 6));
        EXPECT_EQ(third.finish().timings.cached_tokens, recurrent ? (size - 1) / kCheckpointTokens * kCheckpointTokens : size - 1);

        EXPECT_EQ(server.run(first).ids(), reply);
        server.check_idle();
      }
    }
  }
}

TEST(SchedulerCache, APromptThatManyAskAtOnceIsReadOnce) {
  for (const bool recurrent : {true, false}) {
    FakeServer server({.scheduler = {.prefill_chunk = 32}, .backend = {.sizes = model(recurrent)}});
    const Tokens system = some_tokens(200, 1);
    std::vector<FakeServer::Reply> replies;
    for (uint32_t i = 0; i < 8; ++i) replies.push_back(server.submit(greedy(joined(system, some_tokens(10, i)), 5)));
    server.run();
    EXPECT_EQ(server.scheduler.status().prefilled_tokens, 200u + 8 * 10);
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(replies[i].ids(), greedy_reply(joined(system, some_tokens(10, i)), 5));
      EXPECT_EQ(replies[i].finish().timings.cached_tokens, i == 0 ? 0u : 200u);
    }
    server.check_idle();
  }
}

// Three that wait for each other; the second has to begin anew, and finds more than the third shares with it.
TEST(SchedulerCache, WhoWaitsBeginsWhereItSharesAlsoIfTheOtherBeginsBeyond) {
  FakeServer server({.scheduler = {.prefill_chunk = 4, .tpot_stretch = 1000}});
  const GenerateRequest talk = greedy(some_tokens(40, 1), 60);
  const auto first = server.submit(talk);
  server.steps(65);  // all but a few of its reply
  ASSERT_GT(first.ids().size(), 50u);
  ASSERT_FALSE(first.ended());
  const auto leader = server.submit(greedy(joined(first_of(talk.prompt, 30), some_tokens(100, 7)), 5));
  const Tokens turn = next_turn(talk, greedy_reply(talk.prompt, 60), some_tokens(10, 3));
  const auto second = server.submit(greedy(turn, 5));
  const Tokens aside = joined(first_of(turn, 60), some_tokens(10, turn[60] + 1u));
  const auto third = server.submit(greedy(aside, 5));
  while (!first.ended()) server.steps(1);
  ASSERT_TRUE(leader.ids().empty());
  server.cancel(leader);
  server.run();
  EXPECT_EQ(second.ids(), greedy_reply(turn, 5));
  EXPECT_EQ(second.finish().timings.cached_tokens, 99u);
  EXPECT_EQ(third.ids(), greedy_reply(aside, 5));
  server.check_idle();
}

TEST(SchedulerCache, ABudgetOfOneCheckpoint) {
  for (const bool recurrent : {true, false}) {
    FakeServer server({.scheduler = {.prefill_chunk = 64},
                       .backend = {.sizes = model(recurrent)},
                       .budget = {.running = uint64_t{1} << 30, .cache = checkpoint_bytes(1300)}});
    for (uint32_t i = 0; i < 12; ++i) {
      const Tokens prompt = joined(some_tokens(600 * (i % 2 + 1), i % 3), some_tokens(10, i));
      EXPECT_EQ(server.run(greedy(prompt, 5)).ids(), greedy_reply(prompt, 5));
      server.check_idle();
      EXPECT_EQ(server.scheduler.status().checkpoints, 1u);
    }
  }
}

// Its reply's end, whatever that was: a state has what was accepted, and the next turn goes on from there.
TEST(SchedulerCache, AStateHoldsNoTokenThatWasNotGiven) {
  const GenerateRequest plain = greedy(some_tokens(30, 1), 10);
  const Tokens all = greedy_reply(plain.prompt, 20);
  enum class End { kLength, kStopToken, kStopString, kStopStringLate, kCancel };
  for (const End end : {End::kLength, End::kStopToken, End::kStopString, End::kStopStringLate, End::kCancel}) {
    FakeServer server;
    GenerateRequest request = plain;
    if (end == End::kStopToken) request.stop_token_ids = {all[4]};
    auto reply = server.submit(request);
    if (end == End::kStopString || end == End::kStopStringLate) {
      reply.sinks[0]->during_token = [](size_t tokens) { return tokens < 5; };
    }
    if (end == End::kCancel) {
      server.steps(5);
      server.cancel(reply);
    }
    if (end == End::kStopStringLate) {
      for (uint32_t i = 0; i < 7; ++i) server.step();
    }
    server.run();
    const Tokens ids = reply.ids();
    EXPECT_EQ(ids, first_of(all, ids.size()));
    EXPECT_EQ(ids.size(), end == End::kLength ? 10u : std::ranges::find(all, all[4]) - all.begin() + 1u);
    const auto next = server.run(greedy(next_turn(request, ids, {7, 7, 7}), 5));
    EXPECT_EQ(next.ids(), greedy_reply(next_turn(request, ids, {7, 7, 7}), 5));
    // Two steps too many have read on: such a state is none of this conversation.
    EXPECT_EQ(next.finish().timings.cached_tokens, end == End::kStopStringLate ? 0u : 30 + ids.size() - 1);
    const auto own = server.run(greedy(joined(plain.prompt, all), 5));
    EXPECT_EQ(own.ids(), greedy_reply(joined(plain.prompt, all), 5));
    server.check_idle();
  }
}

TEST(SchedulerCache, ManyRequestsThatBeginAlikeLeakNoPage) {
  FakeServer server({.scheduler = {.prefill_chunk = 300}, .budget = {.running = uint64_t{1} << 30, .cache = 12 * checkpoint_bytes(600)}});
  const Tokens system = some_tokens(540, 1);
  uint64_t pages = 0;
  for (uint32_t i = 0; i < 600; ++i) {
    Tokens prompt = system;
    for (uint32_t digits = i; digits > 0; digits /= 8) prompt.push_back(static_cast<int32_t>(digits % 8));
    prompt.push_back(9);
    const auto reply = server.submit(greedy(prompt, 3));
    if (i % 3 == 0) server.run();
    if (i % 7 == 0) server.cancel(reply);
    if (i == 100) pages = server.backend.usage().pages;
  }
  server.run();
  server.check_idle();
  EXPECT_LE(server.backend.usage().pages, pages + 2);
  server.scheduler.reset_prefix_cache();
  server.steps(1);
  EXPECT_EQ(server.backend.usage().pages, 0u);
}

TEST(SchedulerCache, ALongConversationKeepsWithinTheBudget) {
  FakeServer server({.budget = {.running = uint64_t{1} << 30, .cache = 6 * checkpoint_bytes(2000)}, .context = 8192});
  GenerateRequest request = greedy(some_tokens(20, 1), 8);
  uint32_t cached = 0;
  for (uint32_t turn = 0; turn < 200; ++turn) {
    request.message_end = static_cast<uint32_t>(request.prompt.size()) - 3;
    const auto reply = server.run(request);
    ASSERT_EQ(reply.ids(), greedy_reply(request.prompt, 8));
    // What was kept last may give way to what saves more for its bytes, where it is the first with a page of its own.
    EXPECT_GE(reply.finish().timings.cached_tokens + 10, cached) << turn;
    EXPECT_LE(reply.finish().timings.cached_tokens, cached) << turn;
    cached = static_cast<uint32_t>(request.prompt.size()) + 7;
    request.prompt = next_turn(request, reply.ids(), some_tokens(12, turn));
    server.check_idle();
  }
}

// The client's template says the last message's end in another way once there is a reply to it.
TEST(SchedulerCache, TheEndOfTheLastMessageIsKept) {
  FakeServer server;
  GenerateRequest request = greedy(some_tokens(100, 1), 5);
  request.message_end = 90;
  server.run(request);
  const Tokens turn = joined(first_of(request.prompt, 90), some_tokens(40, request.prompt[90] + 1u));
  const auto next = server.run(greedy(turn, 5));
  EXPECT_EQ(next.finish().timings.cached_tokens, 90u);
  EXPECT_EQ(next.ids(), greedy_reply(turn, 5));
}

TEST(SchedulerCache, AScoredPromptIsReadWhole) {
  FakeServer server;
  GenerateRequest request = greedy(some_tokens(100, 1), 5);
  server.run(request);
  const auto usual = server.submit(request);
  request.prompt_logprobs = true;
  request.top_logprobs = 2;
  const auto scored = server.submit(request, 2);
  const auto again = server.submit(request);
  server.run();
  EXPECT_EQ(usual.finish().timings.cached_tokens, 0u);  // the reply's end lies beyond it
  for (const auto* reply : {&scored, &again}) {
    for (size_t choice = 0; choice < reply->sinks.size(); ++choice) {
      EXPECT_EQ(reply->finish(choice).timings.cached_tokens, 0u);
      EXPECT_EQ(reply->ids(choice), greedy_reply(request.prompt, 5));
      const auto& events = reply->sinks[choice]->prompt_events;
      ASSERT_EQ(events.size(), 99u);
      for (size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i].id, request.prompt[i + 1]);
        EXPECT_EQ(events[i].top[0].id, FakeBackend::next_token(first_of(request.prompt, i + 1)));
      }
    }
  }
  server.check_idle();
}

}  // namespace
}  // namespace teapot::engine
