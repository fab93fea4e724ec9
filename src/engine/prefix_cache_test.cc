#include "engine/prefix_cache.h"

#include <gtest/gtest.h>

#include "engine/fake_runner.h"

namespace teapot::engine {
namespace {

using Tokens = std::vector<int32_t>;
using enum CheckpointKind;

constexpr uint64_t kOwn = 1000, kPage = 100;
constexpr uint64_t kPlenty = 1 << 30;

// `count` tokens, others for each seed, from the first one on.
Tokens tokens(uint32_t count, int32_t seed = 0) {
  Tokens result(count);
  for (uint32_t i = 0; i < count; ++i) result[i] = static_cast<int32_t>((i * i / 7 + i + static_cast<uint32_t>(seed) * (i / 3 + 1)) % 64);
  return result;
}
Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Fixture {
  explicit Fixture(uint64_t budget = kPlenty, bool recurrent = true)
      : backend({.sizes = {.recurrent = recurrent, .own_bytes = recurrent ? kOwn : 0, .page_bytes = kPage}}), cache(backend, budget) {}

  // A checkpoint that shares nothing.
  void insert(const Tokens& tokens, CheckpointKind kind = kReplyEnd) { cache.insert(tokens, runner.state_of(tokens), kind); }
  // A checkpoint that goes on from the longest one there is.
  void go_on(const Tokens& tokens, CheckpointKind kind = kReplyEnd) { cache.insert(tokens, resume(tokens), kind); }
  plan::SlotId resume(const Tokens& tokens) {
    const auto size = static_cast<uint32_t>(tokens.size());
    const auto hit = cache.find(tokens, size);
    if (!hit) return runner.state_of(tokens);
    const plan::SlotId slot = *backend.fork_slot(hit->slot, hit->tokens, size);
    if (hit->tokens < size) runner.run(slot, std::span(tokens).subspan(hit->tokens));
    return slot;
  }
  uint32_t found(const Tokens& prompt, uint32_t limit = 1 << 20) {
    const auto hit = cache.find(prompt, limit);
    return hit ? hit->tokens : 0;
  }

  FakeBackend backend;
  FakeRunner runner{backend};
  PrefixCache cache;
};

TEST(PrefixCache, FindsTheLongestWithinTheLimit) {
  Fixture f;
  const Tokens all = tokens(700);
  for (const uint32_t end : {100, 300, 600}) f.go_on(Tokens(all.begin(), all.begin() + end));
  EXPECT_EQ(f.found(all), 600u);
  EXPECT_EQ(f.found(all, 600), 600u);
  EXPECT_EQ(f.found(all, 599), 300u);
  EXPECT_EQ(f.found(all, 99), 0u);
  EXPECT_EQ(f.found(Tokens(all.begin(), all.begin() + 450)), 300u);
  EXPECT_EQ(f.found(tokens(700, 1)), 0u);
  EXPECT_EQ(f.found({}), 0u);
}

TEST(PrefixCache, AStateIsFoundForItsOwnTokensOnly) {
  Fixture f;
  // All of one length, each another token at another place.
  const Tokens base = tokens(300);
  for (uint32_t i = 0; i < 300; ++i) {
    Tokens other = base;
    other[i] = (other[i] + 1) % 64;
    f.insert(other);
  }
  EXPECT_EQ(f.found(base), 0u);
  for (uint32_t i = 0; i < 300; ++i) {
    Tokens other = base;
    other[i] = (other[i] + 1) % 64;
    const auto hit = f.cache.find(other, 300);
    ASSERT_TRUE(hit);
    const plan::SlotId fork = *f.backend.fork_slot(hit->slot, 300, 301);
    ASSERT_EQ(f.runner.run(fork, Tokens{5}), FakeBackend::next_token(other + Tokens{5}));
    f.backend.close_slot(fork);
  }
}

TEST(PrefixCache, CountsSharedPagesOnce) {
  Fixture f;
  f.go_on(tokens(600));  // 2 full pages and one begun
  EXPECT_EQ(f.cache.bytes(), kOwn + 3 * kPage);
  f.go_on(tokens(600) + tokens(300, 1));  // 3 full pages, 2 of them shared, and one begun
  EXPECT_EQ(f.cache.bytes(), 2 * kOwn + 5 * kPage);
  f.insert(tokens(600) + tokens(300, 2));  // computed from the start: shares nothing
  EXPECT_EQ(f.cache.bytes(), 3 * kOwn + 9 * kPage);
  EXPECT_EQ(f.backend.usage().bytes, f.cache.bytes());
}

TEST(PrefixCache, KeepsOneOfEach) {
  Fixture f;
  f.insert(tokens(300), kBorder);
  EXPECT_TRUE(f.cache.has(tokens(300)));
  EXPECT_FALSE(f.cache.has(tokens(299)));
  const plan::SlotId running = f.runner.state_of(tokens(300));
  EXPECT_FALSE(f.cache.worth(tokens(300), running, kReplyEnd));
  f.cache.insert(tokens(300), running, kReplyEnd);
  EXPECT_EQ(f.cache.checkpoints(), 1u);
  EXPECT_EQ(f.backend.usage().slots, 1u);
}

TEST(PrefixCache, StaysWithinItsBudget) {
  Fixture f(4 * (kOwn + kPage));
  for (int32_t seed = 0; seed < 20; ++seed) {
    f.insert(tokens(200, seed));
    EXPECT_LE(f.cache.bytes(), f.cache.budget_bytes());
  }
  EXPECT_EQ(f.cache.checkpoints(), 4u);
  EXPECT_EQ(f.cache.evictions(), 16u);
  EXPECT_EQ(f.found(tokens(200, 19)), 200u);  // the last ones, as they are all alike
  EXPECT_EQ(f.found(tokens(200, 0)), 0u);
  f.insert(tokens(256 * 40));  // more than all of it
  EXPECT_EQ(f.cache.checkpoints(), 4u);
}

TEST(PrefixCache, WhatIsUsedStays) {
  Fixture f(4 * (kOwn + kPage));
  f.insert(tokens(200, 0));
  for (int32_t seed = 1; seed < 20; ++seed) {
    EXPECT_EQ(f.found(tokens(200, 0)), 200u);
    f.insert(tokens(200, seed));
  }
}

TEST(PrefixCache, WhatIsNotUsedGoesHoweverDearItWas) {
  Fixture f(4 * (kOwn + kPage));
  f.insert(tokens(200, 0));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(f.found(tokens(200, 0)), 200u);
  for (int32_t seed = 1; seed < 200; ++seed) f.insert(tokens(200, seed));
  EXPECT_EQ(f.found(tokens(200, 0)), 0u);
}

TEST(PrefixCache, AUseMakesAStateYoung) {
  Fixture f(4 * (kOwn + kPage));
  f.insert(tokens(200, 0));
  for (int i = 0; i < 9; ++i) f.found(tokens(200, 0));
  // It is dear for ten rounds of three newcomers.
  for (int32_t seed = 1; seed < 24; ++seed) f.insert(tokens(200, seed));
  EXPECT_EQ(f.found(tokens(200, 0)), 200u);
  for (int32_t seed = 24; seed < 45; ++seed) f.insert(tokens(200, seed));
  EXPECT_TRUE(f.cache.has(tokens(200, 0)));
}

TEST(PrefixCache, TheLessAStateSavesTheSoonerItGoes) {
  Fixture f(3 * (kOwn + kPage));
  f.insert(tokens(200, 0), kReplyEnd);
  f.insert(tokens(200, 1), kBorder);
  f.insert(tokens(100, 2), kReplyEnd);
  f.insert(tokens(200, 3), kReplyEnd);
  EXPECT_FALSE(f.cache.has(tokens(200, 1)));  // nobody goes on from a border
  f.insert(tokens(200, 4), kReplyEnd);
  EXPECT_FALSE(f.cache.has(tokens(100, 2)));  // little to compute
  EXPECT_TRUE(f.cache.has(tokens(200, 0)));
}

TEST(PrefixCache, ANewcomerThatIsWorthLeastIsRefusedAndAgesTheOthers) {
  Fixture f(2 * (kOwn + kPage));
  f.insert(tokens(200, 0));
  f.insert(tokens(200, 1));
  const plan::SlotId running = f.runner.state_of(tokens(100, 2));
  EXPECT_FALSE(f.cache.worth(tokens(100, 2), running, kBorder));
  EXPECT_EQ(f.cache.checkpoints(), 2u);
  EXPECT_EQ(f.cache.evictions(), 0u);
  int asked = 0;
  while (!f.cache.worth(tokens(100, 2), running, kBorder)) ASSERT_LT(++asked, 20);
  f.cache.insert(tokens(100, 2), running, kBorder);
  EXPECT_TRUE(f.cache.has(tokens(100, 2)));
}

TEST(PrefixCache, AskingWhatAStateIsWorthChangesNothing) {
  Fixture f(3 * kOwn + 6 * kPage);
  f.go_on(tokens(600));
  f.go_on(tokens(600) + tokens(100, 1));
  const uint64_t bytes = f.cache.bytes();
  const plan::SlotId running = f.resume(tokens(550) + tokens(200, 2));
  EXPECT_TRUE(f.cache.worth(tokens(550) + tokens(200, 2), running, kReplyEnd));
  EXPECT_EQ(f.cache.bytes(), bytes);
  EXPECT_EQ(f.cache.checkpoints(), 2u);
  EXPECT_EQ(f.found(tokens(600) + tokens(100, 1)), 700u);
  EXPECT_EQ(f.backend.committed(running), 750u);
  f.backend.close_slot(running);
}

TEST(PrefixCache, AConversationThatOutgrowsTheBudgetComputesLittleTwice) {
  Fixture f(20 * (kOwn + kPage));
  Tokens history = tokens(400);
  f.go_on(history, kMessageEnd);
  uint32_t said = 0, computed = 0;
  for (int32_t turn = 0; turn < 200; ++turn) {
    const auto known = static_cast<uint32_t>(history.size());
    history = history + tokens(40, turn);
    said += 100;
    computed += 100 + known - f.found(history);
    f.go_on(history, kMessageEnd);
    history = history + tokens(60, turn + 7);
    f.go_on(history, kReplyEnd);
    EXPECT_LE(f.cache.bytes(), f.cache.budget_bytes());
    EXPECT_EQ(f.backend.usage().bytes, f.cache.bytes());
  }
  EXPECT_GT(f.cache.evictions(), 300u);
  EXPECT_LT(computed, said * 5 / 4);
}

TEST(PrefixCache, WhereConversationsPartIsKeptWithThem) {
  Fixture f(6 * (kOwn + 4 * kPage));
  const Tokens system = tokens(100);
  f.go_on(system, kMessageEnd);
  const Tokens questions[2] = {system + tokens(300, 1), system + tokens(300, 2)};
  for (const Tokens& question : questions) f.go_on(question);
  // Others come and go, these two are asked again and again; what they begin with is not asked for itself.
  for (int32_t round = 0; round < 400; ++round) {
    for (const Tokens& question : questions) EXPECT_EQ(f.found(question), 400u);
    f.insert(tokens(300, 3 + round));
  }
  EXPECT_GT(f.cache.evictions(), 390u);
  EXPECT_EQ(f.found(system), 100u);
}

TEST(PrefixCache, SaysWhereAPromptDiverges) {
  Fixture f;
  const Tokens kept = tokens(300);
  f.go_on(kept);
  Tokens prompt = kept;
  prompt[170] = (prompt[170] + 1) % 64;
  const auto divergence = f.cache.divergence(prompt);
  ASSERT_TRUE(divergence);
  EXPECT_EQ(divergence->index, 170u);
  EXPECT_EQ(divergence->cached, kept[170]);
  EXPECT_EQ(divergence->prompt, prompt[170]);
  EXPECT_FALSE(f.cache.divergence(kept));
  EXPECT_FALSE(f.cache.divergence(tokens(100)));
  EXPECT_FALSE(f.cache.divergence(kept + tokens(5)));
  EXPECT_FALSE(f.cache.divergence(Tokens{(kept[0] + 1) % 64}));
  // Of two that are kept, the one that goes along further.
  f.insert(Tokens(prompt.begin(), prompt.begin() + 200));
  prompt[190] = (prompt[190] + 1) % 64;
  EXPECT_EQ(f.cache.divergence(prompt)->index, 190u);
  // Where the two part: neither goes on like this.
  Tokens third = kept;
  third[170] = (third[170] + 2) % 64;
  EXPECT_EQ(f.cache.divergence(third)->index, 170u);
}

TEST(PrefixCache, ForgetsOneAndGoesOnWithTheOthers) {
  Fixture f;
  for (const uint32_t end : {100, 300, 600}) f.go_on(tokens(end));
  f.cache.forget(tokens(200));  // is not there
  EXPECT_EQ(f.cache.checkpoints(), 3u);
  f.cache.forget(tokens(300));
  EXPECT_EQ(f.found(tokens(599)), 100u);
  EXPECT_EQ(f.found(tokens(700)), 600u);
  EXPECT_EQ(f.cache.bytes(), 2 * kOwn + 4 * kPage);
  EXPECT_EQ(f.backend.usage().bytes, f.cache.bytes());
  EXPECT_EQ(f.cache.evictions(), 0u);
}

TEST(PrefixCache, ClearGivesEverythingBack) {
  Fixture f;
  for (const uint32_t end : {100, 300, 600}) f.go_on(tokens(end));
  f.cache.clear();
  EXPECT_EQ(f.cache.bytes(), 0u);
  EXPECT_EQ(f.cache.checkpoints(), 0u);
  EXPECT_EQ(f.cache.evictions(), 0u);
  EXPECT_EQ(f.found(tokens(600)), 0u);
  EXPECT_EQ(f.backend.usage().bytes, 0u);
  f.go_on(tokens(100));
  EXPECT_EQ(f.found(tokens(600)), 100u);
}

TEST(PrefixCache, ClosesItsSlotsInTheEnd) {
  FakeBackend backend;
  FakeRunner runner(backend);
  {
    PrefixCache cache(backend, kPlenty);
    cache.insert(tokens(300), runner.state_of(tokens(300)), kReplyEnd);
    EXPECT_EQ(backend.usage().slots, 1u);
  }
  EXPECT_EQ(backend.usage().bytes, 0u);
}

TEST(PrefixCache, WithoutABudgetKeepsNothing) {
  for (const bool recurrent : {true, false}) {
    Fixture f(0, recurrent);
    const plan::SlotId running = f.runner.state_of(tokens(300));
    EXPECT_FALSE(f.cache.worth(tokens(300), running, kReplyEnd));
    f.cache.insert(tokens(300), running, kReplyEnd);
    EXPECT_EQ(f.found(tokens(300)), 0u);
    EXPECT_EQ(f.backend.usage().slots, 0u);
  }
}

TEST(PrefixCache, StatesThatCanBeCutServeAnySharedPrefix) {
  Fixture f(kPlenty, false);
  const Tokens kept = tokens(700);
  f.insert(kept);
  Tokens prompt = kept;
  prompt[530] = (prompt[530] + 1) % 64;
  EXPECT_EQ(f.found(prompt), 530u);
  EXPECT_EQ(f.found(kept, 699), 699u);
  EXPECT_EQ(f.found(tokens(10)), 10u);
  EXPECT_EQ(f.found({(kept[0] + 1) % 64}), 0u);
  const plan::SlotId slot = f.resume(prompt);
  const Tokens next = {3};
  EXPECT_EQ(f.runner.run(*f.backend.fork_slot(slot, 700, 701), next), FakeBackend::next_token(prompt + next));
  f.cache.insert(prompt, slot, kReplyEnd);
  EXPECT_EQ(f.cache.bytes(), 4 * kPage);  // 700 tokens take 3 pages, of which the full ones up to 530 are shared: 2
}

TEST(PrefixCache, StatesThatCanBeCutMakeTheirBeginningsRedundant) {
  Fixture f(kPlenty, false);
  f.go_on(tokens(300));
  f.go_on(tokens(600));
  EXPECT_EQ(f.cache.checkpoints(), 1u);
  EXPECT_EQ(f.cache.bytes(), 3 * kPage);
  EXPECT_EQ(f.cache.evictions(), 0u);
  const plan::SlotId running = f.runner.state_of(tokens(400));
  EXPECT_FALSE(f.cache.worth(tokens(400), running, kReplyEnd));
  f.cache.insert(tokens(400), running, kReplyEnd);
  EXPECT_EQ(f.cache.checkpoints(), 1u);
  EXPECT_EQ(f.backend.usage().slots, 1u);
  EXPECT_EQ(f.found(tokens(300)), 300u);
}

TEST(PrefixCache, AStateThatCanBeCutSavesWhatNoOtherOneHas) {
  Fixture f(6 * kPage, false);
  const Tokens shared = tokens(560);
  f.go_on(shared + tokens(40, 1));
  f.go_on(shared + tokens(40, 2));
  f.insert(tokens(300, 3));
  EXPECT_EQ(f.cache.bytes(), 6 * kPage);
  // Two pages must go. Of the alike, one is enough; the other one has become dear by that.
  f.insert(tokens(500, 4));
  EXPECT_EQ(f.found(shared), 560u);
  EXPECT_EQ(f.found(tokens(500, 4)), 500u);
  EXPECT_EQ(f.cache.checkpoints(), 2u);
  EXPECT_EQ(f.cache.evictions(), 2u);
}

TEST(PrefixCache, AStateThatOutgrowsAnotherOneTakesItsUsesOver) {
  Fixture f(6 * kPage, false);
  f.insert(tokens(200));
  for (int i = 0; i < 9; ++i) f.found(tokens(200));
  f.go_on(tokens(250));
  for (int32_t seed = 1; seed < 20; ++seed) f.insert(tokens(200, seed));
  EXPECT_TRUE(f.cache.has(tokens(250)));
}

TEST(PrefixCache, ABeginningStaysIfWhatGoesOnFromItIsRefused) {
  Fixture f(4 * kPage, false);
  f.insert(tokens(700, 1));
  for (int i = 0; i < 9; ++i) f.found(tokens(700, 1));
  f.insert(tokens(100, 2));
  EXPECT_EQ(f.cache.checkpoints(), 2u);
  f.go_on(tokens(100, 2) + tokens(300));
  EXPECT_EQ(f.found(tokens(100, 2) + tokens(300)), 100u);
  EXPECT_EQ(f.cache.bytes(), 4 * kPage);
}

}  // namespace
}  // namespace teapot::engine
