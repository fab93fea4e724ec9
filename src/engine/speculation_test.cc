// Drafts over a fake model: whatever is drafted, replies are those of one token a step, and the states those of their tokens.
#include "engine/speculation.h"

#include <gtest/gtest.h>

#include "engine/fake_server.h"

namespace teapot::engine {
namespace {

using Holds = std::function<bool(uint64_t hash)>;

FakeServer::Options drafting(std::optional<uint32_t> depth, Holds holds = {}) {
  FakeServer::Options options;
  options.scheduler.draft_limit = kMaxDrafts;
  options.scheduler.draft_depth = depth;
  options.backend.mtp = true;
  options.backend.draft_holds = std::move(holds);
  return options;
}

bool often(uint64_t hash) { return hash % 3 > 0; }
bool never(uint64_t) { return false; }

GenerateRequest sampled(Tokens prompt, uint32_t max_tokens) {
  return {.prompt = std::move(prompt), .sampling = {.temperature = 1.5f, .top_k = 40, .seed = 7}, .max_tokens = max_tokens};
}

TEST(Speculation, RepliesAreThoseWithoutDrafts) {
  const Tokens prompt = some_tokens(20, 1);
  FakeServer plain;
  for (const GenerateRequest& request : {greedy(prompt, 300), sampled(prompt, 300)}) {
    const Tokens expected = plain.run(request).ids();
    for (const Holds& holds : {Holds(often), Holds(never), Holds()}) {
      for (uint32_t depth = 0; depth <= kMaxDrafts + 1; ++depth) {
        FakeServer server(drafting(depth > kMaxDrafts ? std::nullopt : std::optional(depth), holds));
        EXPECT_EQ(server.run(request).ids(), expected) << depth;
        server.backend.states().check();
      }
    }
  }
}

TEST(Speculation, RightDraftsSpareSteps) {
  FakeServer server(drafting(4));
  server.run(greedy(some_tokens(10, 1), 101));
  EXPECT_EQ(server.backend.steps(), 1u + 20u);  // a prompt, and 100 tokens five at a time
}

TEST(Speculation, MaxTokensCutsARound) {
  for (uint32_t max_tokens = 1; max_tokens < 14; ++max_tokens) {
    FakeServer server(drafting(5));
    const auto reply = server.run(greedy(some_tokens(9, 2), max_tokens));
    EXPECT_EQ(reply.ids(), greedy_reply(some_tokens(9, 2), max_tokens));
    EXPECT_EQ(reply.finish().reason, FinishReason::kLength);
  }
}

// Its state, too, ends with the token before the stop: whoever goes on from it must find it.
TEST(Speculation, AStopTokenCutsARound) {
  const Tokens prompt = some_tokens(12, 3), whole = greedy_reply(prompt, 30);
  for (size_t at = 0; at < 12; ++at) {
    const auto first = static_cast<size_t>(std::ranges::find(whole, whole[at]) - whole.begin());
    FakeServer server(drafting(5));
    GenerateRequest request = greedy(prompt, 30);
    request.stop_token_ids = {whole[at]};
    const auto reply = server.run(request);
    EXPECT_EQ(reply.ids(), first_of(whole, first + 1));
    EXPECT_EQ(reply.finish().reason, FinishReason::kStop);
    const Tokens next = joined(joined(prompt, first_of(whole, first + 1)), {1, 2, 3});
    const auto after = server.run(greedy(next, 5));
    EXPECT_EQ(after.ids(), greedy_reply(next, 5));
    EXPECT_EQ(after.finish().timings.cached_tokens, prompt.size() + first);
  }
}

TEST(Speculation, MinTokensHoldForTheRowsOfARound) {
  const Tokens prompt = some_tokens(12, 3);
  GenerateRequest request = greedy(prompt, 20);
  request.stop_token_ids = {greedy_reply(prompt, 20)[2]};
  request.min_tokens = 7;
  FakeServer plain, server(drafting(5, often));
  EXPECT_EQ(server.run(request).ids(), plain.run(request).ids());
}

TEST(Speculation, ARequestHasADepthOfItsOwn) {
  FakeServer server(drafting(std::nullopt));
  for (const uint32_t depth : {0u, 1u, 3u}) {
    GenerateRequest request = greedy(some_tokens(10, depth), 61);
    request.draft_depth = depth;
    const uint64_t before = server.backend.steps();
    const auto reply = server.run(request);
    EXPECT_EQ(server.backend.steps() - before, 1 + 60 / (depth + 1));
    const DraftCounts& drafts = reply.finish().timings.drafts;
    EXPECT_EQ(drafts.rounds, depth == 0 ? 0 : 60 / (depth + 1));
    for (uint32_t i = 0; i < kMaxDrafts; ++i) {
      EXPECT_EQ(drafts.drafted[i], i < depth ? drafts.rounds : 0);
      EXPECT_EQ(drafts.accepted[i], drafts.drafted[i]);
    }
  }
}

TEST(Speculation, SequencesOfDifferentDepthsShareSteps) {
  FakeServer server(drafting(std::nullopt, often));
  std::vector<FakeServer::Reply> replies;
  for (uint32_t depth = 0; depth < 8; ++depth) {
    GenerateRequest request = greedy(some_tokens(30 + 40 * depth, depth), 100);
    request.draft_depth = depth;
    replies.push_back(server.submit(request));
  }
  server.run();
  for (uint32_t depth = 0; depth < 8; ++depth) {
    EXPECT_EQ(replies[depth].ids(), greedy_reply(some_tokens(30 + 40 * depth, depth), 100));
  }
}

// With one that always drafts there is no plain round to be seen: the others must not wait for it.
TEST(Speculation, WhoDraftsByOrderKeepsNobodyFromDrafting) {
  auto options = drafting(std::nullopt);
  options.backend.step_ms = [](uint32_t rows) { return 20 + 0.5 * rows; };
  FakeServer server(options);
  GenerateRequest ordered = greedy(some_tokens(10, 1), 401);
  ordered.draft_depth = 1;
  const auto one = server.submit(ordered), other = server.submit(greedy(some_tokens(10, 2), 1201));
  server.run();
  EXPECT_EQ(one.ids(), greedy_reply(some_tokens(10, 1), 401));
  EXPECT_EQ(other.ids(), greedy_reply(some_tokens(10, 2), 1201));
  EXPECT_EQ(one.finish().timings.drafts.rounds, 200u);
  EXPECT_EQ(server.backend.steps(), 1u + 200u);  // the other has ended before
}

// Plain steps leave the MTP layer behind, further than the states remember if nothing were done.
TEST(Speculation, TheMtpLayerCatchesUp) {
  FakeServer server(drafting(0));
  EXPECT_EQ(server.run(greedy(some_tokens(10, 1), 200)).ids(), greedy_reply(some_tokens(10, 1), 200));
}

TEST(Speculation, DraftsCanBeReplaced) {
  auto options = drafting(2);
  std::vector<uint32_t> positions;
  options.scheduler.replace_draft = [&](const Draft& draft) {
    positions.push_back(draft.position);
    return (draft.id + 1) % 64;
  };
  FakeServer server(options);
  const auto reply = server.run(greedy(some_tokens(10, 1), 4));
  EXPECT_EQ(reply.ids(), greedy_reply(some_tokens(10, 1), 4));
  EXPECT_EQ(positions, (std::vector<uint32_t>{11, 12, 12}));
  EXPECT_EQ(reply.finish().timings.drafts.accepted[0], 0u);
}

TEST(Speculation, AFaultInADraftStepEndsThoseInIt) {
  FakeServer server(drafting(2));
  const auto lost = server.submit(greedy(some_tokens(10, 1), 50));
  server.step();
  server.step();
  server.backend.fail_next_run();
  server.run();
  EXPECT_EQ(lost.finish().reason, FinishReason::kError);
  EXPECT_EQ(server.run(greedy(some_tokens(10, 1), 5)).ids(), greedy_reply(some_tokens(10, 1), 5));
}

}  // namespace
}  // namespace teapot::engine
