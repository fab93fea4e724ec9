#include "engine/prefix_tree.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "engine/prefix_cache.h"

namespace teapot::engine {
namespace {

using Tokens = std::vector<int32_t>;

Tokens tokens_of(const PrefixNode& node) {
  Tokens tokens;
  for (const PrefixNode* at = &node; at->parent != nullptr; at = at->parent)
    tokens.insert(tokens.begin(), at->edge.begin(), at->edge.end());
  return tokens;
}

// Whatever comes and goes: each kept sequence has its node for good, and a match is what a comparison with each of them gives.
TEST(PrefixTree, MatchesAsComparingWithEachDoes) {
  std::mt19937 random(11);
  const auto sequence = [&] {
    Tokens tokens(1 + random() % 12);
    for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 2);
    return tokens;
  };
  PrefixTree tree;
  std::map<Tokens, PrefixNode*> kept;
  std::map<Tokens, Checkpoint> checkpoints;
  for (int event = 0; event < 20000; ++event) {
    const Tokens tokens = sequence();
    if (const auto known = kept.find(tokens); known != kept.end()) {
      known->second->checkpoint = nullptr;
      tree.remove(*known->second);
      kept.erase(known);
    } else if (kept.size() < 40) {
      PrefixNode& node = tree.insert(tokens);
      node.checkpoint = &checkpoints[tokens];
      kept[tokens] = &node;
    }
    const Tokens prompt = sequence();
    size_t longest = 0;
    for (const auto& [other, node] : kept) {
      longest = std::max<size_t>(longest, std::ranges::mismatch(other, prompt).in1 - other.begin());
      ASSERT_EQ(tokens_of(*node), other);
      ASSERT_EQ(node->depth, other.size());
      ASSERT_EQ(node->checkpoint, &checkpoints[other]);
    }
    const auto [node, shared] = tree.match(prompt);
    ASSERT_EQ(shared, longest);
    ASSERT_GE(node->depth, shared);
    ASSERT_TRUE(node->parent == nullptr || node->parent->depth < shared);
    const Tokens way = tokens_of(*node);
    ASSERT_TRUE(std::equal(prompt.begin(), prompt.begin() + shared, way.begin()));
    // Nodes are there for a reason: an end, or two ways to go.
    ASSERT_TRUE(node->parent == nullptr || node->checkpoint != nullptr || node->branches.size() > 1);
  }
}

}  // namespace
}  // namespace teapot::engine
