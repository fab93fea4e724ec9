// Many random events over a cache and the states in it: whatever happens, a state that is found goes on as its tokens demand, and no slot,
// page or byte is lost or counted twice.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "engine/fake_runner.h"
#include "engine/prefix_cache.h"

namespace teapot::engine {
namespace {

using Tokens = std::vector<int32_t>;

constexpr uint32_t kRoom = 2600;  // tokens of a sequence: some ten pages

class World {
 public:
  World(uint32_t seed, const FakeSizes& sizes, uint64_t budget) : random_(seed), backend_({.sizes = sizes}), cache_(backend_, budget) {}

  void event() {
    const uint32_t dice = below(1000);
    if (sequences_.empty() || (dice < 60 && sequences_.size() < 6)) {
      begin();
    } else if (dice < 700) {
      go_on(pick());
    } else if (dice < 850) {
      checkpoint(pick());
    } else if (dice < 995) {
      end(below(static_cast<uint32_t>(sequences_.size())), dice < 960);
    } else if (dice == 999 && below(100) == 0) {
      cache_.clear();
      EXPECT_EQ(cache_.bytes(), 0u);
    } else if (dice == 998 && !told_.empty()) {
      const Tokens& tokens = told_[below(static_cast<uint32_t>(told_.size()))];
      cache_.forget(tokens);
      EXPECT_FALSE(cache_.has(tokens));
    } else {
      ask();
    }
    EXPECT_LE(cache_.bytes(), cache_.budget_bytes());
    EXPECT_EQ(backend_.usage().slots, sequences_.size() + cache_.checkpoints());
  }

  // Everything counted again, from what the backend has open besides the running sequences.
  void recount() const {
    std::set<plan::SlotId> running;
    for (const Sequence& sequence : sequences_) running.insert(sequence.slot);
    uint64_t bytes = 0;
    std::set<plan::PageId> pages;
    for (const auto& [slot, state] : backend_.states().open_slots()) {
      if (running.contains(slot)) continue;
      EXPECT_TRUE(backend_.states().pages_agree(state));
      bytes += backend_.state_bytes(state.committed) - state.pages.size() * backend_.page_bytes();
      pages.insert(state.pages.begin(), state.pages.end());
    }
    EXPECT_EQ(cache_.bytes(), bytes + pages.size() * backend_.page_bytes());
    backend_.states().check();
  }

  void finish() {
    while (!sequences_.empty()) end(0, false);
    recount();
    EXPECT_GT(hits_, 0u);
    EXPECT_GT(cache_.evictions(), 0u);
    cache_.clear();
    EXPECT_EQ(backend_.usage().slots, 0u);
    EXPECT_EQ(backend_.usage().pages, 0u);
    EXPECT_EQ(backend_.usage().bytes, 0u);
  }

 private:
  struct Sequence {
    Tokens tokens;  // in the state
    plan::SlotId slot;
  };

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  Sequence& pick() { return sequences_[below(static_cast<uint32_t>(sequences_.size()))]; }
  // Few different tokens, so that what is random begins alike now and then.
  void append(Tokens& tokens, uint32_t count) {
    for (uint32_t i = 0; i < count && tokens.size() + 1 < kRoom; ++i) tokens.push_back(static_cast<int32_t>(below(4)));
  }

  // Something that was said before, up to somewhere, and something new.
  Tokens prompt() {
    Tokens tokens;
    if (!told_.empty() && below(8) > 0) {
      const Tokens& old = told_[below(static_cast<uint32_t>(told_.size()))];
      const auto size = static_cast<uint32_t>(old.size());
      tokens.assign(old.begin(), old.begin() + (below(2) == 0 ? size : below(size + 1)));
    }
    append(tokens, 1 + below(60));
    return tokens;
  }

  void begin() {
    Sequence sequence{.tokens = prompt(), .slot = {}};
    const auto size = static_cast<uint32_t>(sequence.tokens.size());
    const auto hit = cache_.find(sequence.tokens, size - 1);
    const uint32_t cached = hit ? hit->tokens : 0;
    ASSERT_LT(cached, size);
    hits_ += hit.has_value();
    const auto slot = hit ? backend_.fork_slot(hit->slot, cached, kRoom) : backend_.open_slot(kRoom);
    ASSERT_TRUE(slot) << slot.error().message;
    sequence.slot = *slot;
    if (below(2) == 0) note_divergence(sequence.tokens, cached);
    ASSERT_EQ(runner_.run(*slot, std::span(sequence.tokens).subspan(cached)), FakeBackend::next_token(sequence.tokens));
    sequences_.push_back(std::move(sequence));
  }

  void note_divergence(const Tokens& tokens, uint32_t cached) const {
    const auto divergence = cache_.divergence(tokens);
    if (!divergence) return;
    EXPECT_GE(divergence->index, cached);
    EXPECT_EQ(divergence->prompt, tokens[divergence->index]);
    EXPECT_NE(divergence->cached, divergence->prompt);
  }

  void go_on(Sequence& sequence) {
    const size_t before = sequence.tokens.size();
    append(sequence.tokens, below(10) == 0 ? 1 + below(300) : 1 + below(8));
    if (sequence.tokens.size() == before) return;
    ASSERT_EQ(runner_.run(sequence.slot, std::span(sequence.tokens).subspan(before)), FakeBackend::next_token(sequence.tokens));
  }

  void checkpoint(const Sequence& sequence) {
    const auto kind = static_cast<CheckpointKind>(below(4));
    const bool known = cache_.has(sequence.tokens);
    if (!cache_.worth(sequence.tokens, sequence.slot, kind)) {
      EXPECT_EQ(cache_.has(sequence.tokens), known);
      return;
    }
    EXPECT_FALSE(known);
    const auto size = static_cast<uint32_t>(sequence.tokens.size());
    cache_.insert(sequence.tokens, *backend_.fork_slot(sequence.slot, size, size), kind);
    EXPECT_TRUE(cache_.has(sequence.tokens));
    tell(sequence.tokens);
  }

  void end(uint32_t index, bool keep) {
    const Sequence sequence = std::move(sequences_[index]);
    sequences_.erase(sequences_.begin() + index);
    if (keep) {
      cache_.insert(sequence.tokens, sequence.slot, CheckpointKind::kReplyEnd);
      tell(sequence.tokens);
    } else {
      backend_.close_slot(sequence.slot);
    }
  }

  // Never mind what becomes of what is found.
  void ask() {
    const Tokens tokens = prompt();
    const auto limit = below(kRoom);
    if (const auto hit = cache_.find(tokens, limit)) {
      EXPECT_LE(hit->tokens, std::min<size_t>(limit, tokens.size()));
      EXPECT_GT(hit->tokens, 0u);
    }
  }

  void tell(const Tokens& tokens) {
    if (told_.size() < 30) {
      told_.push_back(tokens);
    } else {
      told_[below(30)] = tokens;
    }
  }

  std::mt19937 random_;
  FakeBackend backend_;
  FakeRunner runner_{backend_};
  PrefixCache cache_;
  std::vector<Sequence> sequences_;
  std::vector<Tokens> told_;
  uint64_t hits_ = 0;
};

struct Kind {
  const char* name;
  FakeSizes sizes;
  uint64_t budget;
};

class PrefixCacheAtRandom : public testing::TestWithParam<Kind> {};

TEST_P(PrefixCacheAtRandom, LosesNothingAndMixesNothingUp) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    World world(seed, GetParam().sizes, GetParam().budget);
    for (int event = 0; event < 85000; ++event) {
      ASSERT_NO_FATAL_FAILURE(world.event());
      if (event % 500 == 0) world.recount();
      ASSERT_FALSE(HasFailure()) << GetParam().name << ", seed " << seed << ", event " << event;
    }
    world.finish();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PrefixCacheAtRandom,
                         testing::Values(Kind{"hybrid", {.recurrent = true, .own_bytes = 1000, .page_bytes = 300}, 40000},
                                         Kind{"attention", {.recurrent = false, .own_bytes = 0, .page_bytes = 300}, 30000},
                                         Kind{"recurrent", {.recurrent = true, .own_bytes = 1000, .page_bytes = 0}, 20000}),
                         [](const auto& kind) { return kind.param.name; });

TEST(PrefixCacheInUse, ManyRequestsThatBeginAlikeLeakNothing) {
  FakeBackend backend({.sizes = {.recurrent = true, .own_bytes = 1000, .page_bytes = 300}});
  FakeRunner runner(backend);
  PrefixCache cache(backend, 15 * 1300);
  const Tokens system(777, 7);
  cache.insert(system, runner.state_of(system), CheckpointKind::kMessageEnd);
  plan::StateStore::Usage most;
  for (int32_t request = 0; request < 600; ++request) {
    Tokens prompt = system;
    for (int32_t digit = request; digit > 0; digit /= 8) prompt.push_back(digit % 8);
    prompt.push_back(9);
    const auto size = static_cast<uint32_t>(prompt.size());
    const auto hit = cache.find(prompt, size - 1);
    ASSERT_TRUE(hit);
    ASSERT_GE(hit->tokens, system.size());
    const plan::SlotId slot = *backend.fork_slot(hit->slot, hit->tokens, size + 50);
    ASSERT_EQ(runner.run(slot, std::span(prompt).subspan(hit->tokens)), FakeBackend::next_token(prompt));
    cache.insert(prompt, slot, CheckpointKind::kReplyEnd);
    ASSERT_EQ(backend.usage().bytes, cache.bytes());
    ASSERT_LE(cache.bytes(), cache.budget_bytes());
    if (request == 100) most = backend.usage();
  }
  EXPECT_EQ(backend.usage().pages, most.pages);
  EXPECT_EQ(backend.usage().kept_bytes, most.kept_bytes);
  cache.clear();
  EXPECT_EQ(backend.usage().bytes, 0u);
}

}  // namespace
}  // namespace teapot::engine
