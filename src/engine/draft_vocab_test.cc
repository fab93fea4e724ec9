#include "engine/draft_vocab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "engine/philox.h"

namespace teapot::engine {
namespace {

constexpr uint32_t kGroup = plan::kHeadRowGroup;

// The ids of a list, after checking its form.
std::vector<int32_t> ids(std::span<const plan::HeadRows> rows, uint32_t vocab) {
  std::vector<int32_t> out;
  uint32_t end = 0;
  for (const auto [first, count] : rows) {
    EXPECT_TRUE(out.empty() || first > end) << "adjacent ranges are one";
    EXPECT_EQ(first % kGroup, 0u);
    end = first + count;
    EXPECT_TRUE(end % kGroup == 0 || end == vocab);
    EXPECT_LE(end, vocab);
    for (uint32_t id = first; id < end; ++id) out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

// As many rounds as it takes for all that was said to count.
std::span<const plan::HeadRows> settled(DraftVocab& vocab) {
  for (int i = 0; i < 16; ++i) vocab.rows();
  return vocab.rows();
}

std::vector<int32_t> of_groups(const std::vector<int32_t>& groups) {
  std::vector<int32_t> out;
  for (const int32_t group : groups) out.push_back(group * static_cast<int32_t>(kGroup) + 3);
  return out;
}

TEST(DraftVocab, AllIdsAreAnEmptyList) {
  for (const uint32_t size : {1000u, 1001u, 999u, ~0u}) {
    DraftVocab vocab(1000, size);
    vocab.begin(std::vector<int32_t>{5, 999});
    vocab.saw(7);
    EXPECT_TRUE(settled(vocab).empty());
    EXPECT_TRUE(vocab.has(0) && vocab.has(999));
    EXPECT_EQ(vocab.coverage().inside, 1u);
  }
}

TEST(DraftVocab, BeginsWithTheLowestIds) {
  DraftVocab vocab(1000, 100);
  const auto rows = vocab.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, 0u);
  EXPECT_EQ(rows[0].count, 112u);
  EXPECT_TRUE(vocab.has(111));
  EXPECT_FALSE(vocab.has(112));
}

TEST(DraftVocab, APromptCountsAtOnceAndGoesWithItsSequence) {
  DraftVocab vocab(1000, 4 * kGroup);
  const std::vector<int32_t> prompt = {500, 999, 501};
  vocab.rows();
  vocab.begin(prompt);
  const auto list = ids(vocab.rows(), 1000);
  EXPECT_EQ(list.size(), 3 * kGroup + 1000 % kGroup);
  EXPECT_TRUE(vocab.has(500) && vocab.has(999) && vocab.has(0) && vocab.has(31));
  EXPECT_FALSE(vocab.has(32));
  vocab.end(prompt);
  settled(vocab);
  EXPECT_FALSE(vocab.has(500) || vocab.has(999));
  EXPECT_TRUE(vocab.has(63));
}

TEST(DraftVocab, WhatTwoSequencesHoldStaysWithTheOther) {
  DraftVocab vocab(1000, 4 * kGroup);
  vocab.begin(std::vector<int32_t>{500});
  vocab.begin(std::vector<int32_t>{501});
  vocab.end(std::vector<int32_t>{500});
  settled(vocab);
  EXPECT_TRUE(vocab.has(500));
}

TEST(DraftVocab, WhatWasSampledOftenOutlivesItsSequence) {
  DraftVocab vocab(1000, 4 * kGroup);
  std::vector<int32_t> tokens = {900};
  vocab.begin(tokens);
  for (const int32_t id : {700, 700, 800, 801}) {
    vocab.saw(id);
    tokens.push_back(id);
  }
  vocab.end(tokens);
  settled(vocab);
  EXPECT_TRUE(vocab.has(700) && vocab.has(800) && vocab.has(0));
  EXPECT_FALSE(vocab.has(900));
}

TEST(DraftVocab, ALongPromptLeavesHalfToWhatIsFrequent) {
  DraftVocab vocab(16000, 10 * kGroup);
  for (const int32_t id : of_groups({20, 21, 22, 23, 24, 25})) {
    vocab.saw(id);
    vocab.end(std::vector<int32_t>{id});
  }
  std::vector<int32_t> prompt(12000);
  std::iota(prompt.begin(), prompt.end(), 4000);
  for (const int32_t id : of_groups({900, 901, 902, 903, 904})) prompt.push_back(id);
  vocab.begin(prompt);
  EXPECT_EQ(ids(vocab.rows(), 16000).size(), 10 * kGroup);
  for (const int32_t id : of_groups({20, 21, 22, 23, 24, 900, 901, 902, 903, 904})) EXPECT_TRUE(vocab.has(id)) << id;
}

TEST(DraftVocab, TheListIsKeptForSixteenRounds) {
  DraftVocab vocab(1000, 4 * kGroup);
  vocab.rows();
  vocab.saw(500);
  int rounds = 1;
  for (; !vocab.has(500); ++rounds) vocab.rows();
  EXPECT_EQ(rounds, 17);
}

TEST(DraftVocab, CountsWhatADraftCouldNotSay) {
  DraftVocab vocab(1000, 100);
  for (const int32_t id : {1, 2, 500, 3}) vocab.saw(id);
  EXPECT_EQ(vocab.coverage().inside, 3u);
  EXPECT_EQ(vocab.coverage().outside, 1u);
}

TEST(DraftVocab, ForgetsWhatIsNoLongerSampled) {
  DraftVocab vocab(16000, kGroup);
  const auto saw = [&](int32_t id) {
    vocab.saw(id);
    vocab.end(std::vector<int32_t>{id});
  };
  for (int i = 0; i < 900; ++i) saw(500);
  settled(vocab);
  EXPECT_TRUE(vocab.has(500));
  // So many others, in turn, that all counts are halved, and halved again.
  for (int i = 0; i < 400000; ++i) saw(i % 15984);
  for (int i = 0; i < 500; ++i) saw(15999);
  settled(vocab);
  EXPECT_TRUE(vocab.has(15999));
}

// The same by sorting.
std::vector<int32_t> naive(uint32_t vocab, uint32_t size, const std::map<int32_t, int>& context, const std::map<int32_t, int>& sampled) {
  const auto groups = static_cast<int32_t>((vocab + kGroup - 1) / kGroup);
  const size_t wanted = (size + kGroup - 1) / kGroup;
  std::vector<uint8_t> in(groups);
  const auto take = [&](const std::map<int32_t, int>& counts, size_t count, bool counted_only) {
    const auto of = [&](int32_t group) { return counts.contains(group) ? counts.at(group) : 0; };
    std::vector<int32_t> order;
    for (int32_t group = 0; group < groups; ++group) {
      if (in[group] == 0 && (!counted_only || of(group) > 0)) order.push_back(group);
    }
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return of(a) > of(b); });
    order.resize(std::min(count, order.size()));
    for (const int32_t group : order) in[group] = 1;
    return order.size();
  };
  const size_t of_context = take(context, wanted / 2, true);
  take(sampled, wanted - of_context, false);
  std::vector<int32_t> out;
  for (uint32_t id = 0; id < vocab; ++id) {
    if (in[id / kGroup] != 0) out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

TEST(DraftVocab, IsWhatSortingGives) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    uint64_t drawn = 0;
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(uniform(seed, drawn++) * end); };
    const uint32_t ids_total = 300 + below(1500), size = 1 + below(ids_total - kGroup);
    DraftVocab vocab(ids_total, size);
    std::map<int32_t, int> context, sampled;
    std::vector<std::vector<int32_t>> running;
    // Low ids are likelier.
    const auto token = [&] { return static_cast<int32_t>(below(1 + below(ids_total))); };
    const auto group = [](int32_t id) { return id / static_cast<int32_t>(kGroup); };
    for (int event = 0; event < 300; ++event) {
      if (const uint32_t what = below(10); running.empty() || what == 0) {
        std::vector<int32_t> prompt(below(60));
        for (int32_t& id : prompt) ++context[group(id = token())];
        vocab.begin(prompt);
        running.push_back(prompt);
      } else if (what == 1) {
        const uint32_t ended = below(static_cast<uint32_t>(running.size()));
        vocab.end(running[ended]);
        for (const int32_t id : running[ended]) --context[group(id)];
        running.erase(running.begin() + ended);
      } else {
        const int32_t id = token();
        vocab.saw(id);
        ++context[group(id)];
        ++sampled[group(id)];
        running[below(static_cast<uint32_t>(running.size()))].push_back(id);
      }
      if (below(10) > 0) continue;
      const auto list = ids(settled(vocab), ids_total);
      const auto expected = naive(ids_total, size, context, sampled);
      if (size + kGroup > ids_total && list.empty()) continue;  // rounded up to all
      ASSERT_EQ(list, expected) << seed;
      for (uint32_t id = 0; id < ids_total; ++id) {
        ASSERT_EQ(vocab.has(static_cast<int32_t>(id)), std::ranges::binary_search(expected, static_cast<int32_t>(id)));
      }
    }
  }
}

}  // namespace
}  // namespace teapot::engine
