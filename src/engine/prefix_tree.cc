#include "engine/prefix_tree.h"

#include <algorithm>
#include <cassert>

namespace teapot::engine {

PrefixTree::Match PrefixTree::match(std::span<const int32_t> tokens) const {
  PrefixNode* node = root_.get();
  uint32_t shared = 0;
  while (shared < tokens.size()) {
    const auto branch = node->branches.find(tokens[shared]);
    if (branch == node->branches.end()) break;
    node = branch->second.get();
    const auto rest = tokens.subspan(shared);
    shared += static_cast<uint32_t>(std::ranges::mismatch(rest, node->edge).in1 - rest.begin());
    if (shared < node->depth) break;
  }
  return {node, shared};
}

PrefixNode& PrefixTree::insert(std::span<const int32_t> tokens) {
  assert(!tokens.empty());
  const auto [node, shared] = match(tokens);
  PrefixNode& from = shared < node->depth ? split(*node, shared) : *node;
  if (shared == tokens.size()) return from;
  auto leaf = std::make_unique<PrefixNode>();
  leaf->parent = &from;
  leaf->edge.assign(tokens.begin() + shared, tokens.end());
  leaf->depth = static_cast<uint32_t>(tokens.size());
  return *(from.branches[tokens[shared]] = std::move(leaf));
}

void PrefixTree::remove(PrefixNode& node) {
  assert(node.checkpoint == nullptr && node.parent != nullptr);
  if (node.branches.size() > 1) return;
  if (node.branches.size() == 1) return join(*node.branches.begin()->second);
  PrefixNode& parent = *node.parent;
  parent.branches.erase(node.edge.front());
  if (parent.parent != nullptr && parent.checkpoint == nullptr && parent.branches.size() == 1) join(*parent.branches.begin()->second);
}

PrefixNode& PrefixTree::split(PrefixNode& below, uint32_t depth) {
  PrefixNode& above = *below.parent;
  std::unique_ptr<PrefixNode>& place = above.branches.at(below.edge.front());
  auto between = std::make_unique<PrefixNode>();
  const auto cut = below.edge.begin() + (depth - above.depth);
  between->parent = &above;
  between->edge.assign(below.edge.begin(), cut);
  between->depth = depth;
  between->counted = below.counted;
  below.edge.erase(below.edge.begin(), cut);
  below.parent = between.get();
  between->branches[below.edge.front()] = std::move(place);
  place = std::move(between);
  return *place;
}

void PrefixTree::join(PrefixNode& node) {
  PrefixNode& between = *node.parent;
  PrefixNode& above = *between.parent;
  std::unique_ptr<PrefixNode> kept = std::move(between.branches.begin()->second);
  std::unique_ptr<PrefixNode>& place = above.branches.at(between.edge.front());
  node.edge.insert(node.edge.begin(), between.edge.begin(), between.edge.end());
  node.parent = &above;
  place = std::move(kept);  // the end of `between`
}

}  // namespace teapot::engine
