#include "engine/prefix_cache.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace teapot::engine {
namespace {

// [CheckpointKind]. Borders lie where chunks happened to end, a fork is where two prompts parted once; people go on from the end of what
// was said.
constexpr std::array<double, 4> kWeights = {1, 2, 4, 4};

// Slots are numbered with 16 bits, running ones among them, and whoever needs room looks at all checkpoints.
constexpr size_t kMaxCheckpoints = 4096;

double weight(CheckpointKind kind) { return kWeights[static_cast<size_t>(kind)]; }

bool stays(const PrefixNode& node) { return node.checkpoint != nullptr && !node.checkpoint->leaving; }

}  // namespace

std::optional<PrefixCache::Hit> PrefixCache::find(std::span<const int32_t> prompt, uint32_t limit) {
  const auto [end, shared] = tree_.match(prompt.first(std::min<size_t>(prompt.size(), limit)));
  const PrefixNode* node = end;
  if (store_.recurrent()) {
    if (node->depth > shared) node = node->parent;
    while (node != nullptr && node->checkpoint == nullptr) node = node->parent;
    if (node == nullptr) return {};
  } else {
    if (shared == 0) return {};
    while (node->checkpoint == nullptr) node = node->branches.begin()->second.get();
  }
  Checkpoint& found = *node->checkpoint;
  ++found.hits;
  found.since = age_;
  // Where others part is in use with each of them. The rest of the way is not: the earlier ends of a conversation must grow old, or they
  // would push out its last one.
  for (const PrefixNode* above = node->parent; above != nullptr; above = above->parent) {
    if (above->checkpoint != nullptr && above->branches.size() > 1) above->checkpoint->since = age_;
  }
  return Hit{found.slot, std::min(shared, node->depth)};
}

std::optional<PrefixCache::Divergence> PrefixCache::divergence(std::span<const int32_t> prompt) const {
  const auto [node, shared] = tree_.match(prompt);
  if (shared == 0 || shared == prompt.size()) return {};
  if (shared < node->depth) return Divergence{shared, node->edge[shared - node->parent->depth], prompt[shared]};
  if (node->checkpoint != nullptr) return {};
  return Divergence{shared, node->branches.begin()->first, prompt[shared]};
}

bool PrefixCache::has(std::span<const int32_t> tokens) const {
  const auto [node, shared] = tree_.match(tokens);
  return shared == tokens.size() && node->depth == shared && node->checkpoint != nullptr;
}

bool PrefixCache::worth(std::span<const int32_t> tokens, plan::SlotId running, CheckpointKind kind) {
  if (redundant(tokens) || !fits_alone(tokens)) return false;
  Checkpoint& newcomer = add(tokens, running, kind);
  const std::optional<Room> room = make_room(newcomer);
  if (room) {
    for (Checkpoint* const other : room->outgrown) count(*other);
    for (Checkpoint* const other : room->evicted) count(*other);
  }
  remove(newcomer);
  return room.has_value();
}

void PrefixCache::insert(std::span<const int32_t> tokens, plan::SlotId slot, CheckpointKind kind) {
  if (redundant(tokens)) {
    if (has(tokens)) {
      Checkpoint& kept = *tree_.match(tokens).node->checkpoint;
      if (weight(kind) > weight(kept.kind)) kept.kind = kind;
      kept.since = age_;
    }
    return store_.close_slot(slot);
  }
  if (!fits_alone(tokens)) return store_.close_slot(slot);
  Checkpoint& newcomer = add(tokens, slot, kind);
  const std::optional<Room> room = make_room(newcomer);
  if (!room) {
    remove(newcomer);
    return store_.close_slot(slot);
  }
  evictions_ += room->evicted.size();
  age_ = newcomer.since = room->age;
  for (const auto* leaving : {&room->outgrown, &room->evicted}) {
    for (Checkpoint* const other : *leaving) {
      store_.close_slot(other->slot);
      remove(*other);
    }
  }
}

void PrefixCache::forget(std::span<const int32_t> tokens) {
  if (!has(tokens)) return;
  Checkpoint& checkpoint = *tree_.match(tokens).node->checkpoint;
  const plan::SlotId slot = checkpoint.slot;
  remove(checkpoint);
  store_.close_slot(slot);
}

void PrefixCache::clear() {
  for (const Checkpoint& checkpoint : checkpoints_) store_.close_slot(checkpoint.slot);
  checkpoints_.clear();
  tree_.clear();
  holders_.clear();
  bytes_ = 0;
  counted_ = 0;
  age_ = 0;
}

// The page that is not full yet is nobody else's, and slots may run in it: it counts as the checkpoint's own.
std::span<const plan::PageId> PrefixCache::full_pages(const Checkpoint& checkpoint) const {
  if (store_.page_bytes() == 0) return {};
  return store_.pages(checkpoint.slot).first(checkpoint.node->depth / plan::kPagePositions);
}

uint64_t PrefixCache::own_bytes(const Checkpoint& checkpoint) const {
  return store_.state_bytes(checkpoint.node->depth) - full_pages(checkpoint).size() * store_.page_bytes();
}

// Slots share their pages from the first on: once one is shared, so are those before it.
uint64_t PrefixCache::freed_bytes(const Checkpoint& checkpoint) const {
  const auto pages = full_pages(checkpoint);
  const auto alone = std::find_if(pages.rbegin(), pages.rend(), [&](plan::PageId page) { return holders_.at(page) > 1; });
  return own_bytes(checkpoint) + static_cast<uint64_t>(alone - pages.rbegin()) * store_.page_bytes();
}

uint32_t PrefixCache::saved_tokens(const Checkpoint& checkpoint) const {
  const PrefixNode* node = checkpoint.node;
  if (store_.recurrent()) {
    do node = node->parent;
    while (node->parent != nullptr && !stays(*node));
    return checkpoint.node->depth - node->depth;
  }
  // Any other state that begins alike serves as far as it goes along.
  while (node->parent->parent != nullptr && node->parent->counted == 1) node = node->parent;
  return checkpoint.node->depth - node->parent->depth;
}

double PrefixCache::priority(const Checkpoint& checkpoint) const {
  // A conversation that has gone on will go on from its new end. What was used often is likely to be used again only if it is an end
  // itself, or if others part there.
  const double uses = checkpoint.node->branches.size() == 1 ? 0.5 : 1.0 + checkpoint.hits;
  return checkpoint.since + weight(checkpoint.kind) * uses * saved_tokens(checkpoint) / static_cast<double>(freed_bytes(checkpoint));
}

bool PrefixCache::redundant(std::span<const int32_t> tokens) const {
  return store_.recurrent() ? has(tokens) : tree_.match(tokens).tokens == tokens.size();
}

bool PrefixCache::fits_alone(std::span<const int32_t> tokens) const {
  return !tokens.empty() && store_.state_bytes(static_cast<uint32_t>(tokens.size())) <= budget_;
}

Checkpoint& PrefixCache::add(std::span<const int32_t> tokens, plan::SlotId slot, CheckpointKind kind) {
  assert(store_.committed(slot) == tokens.size());
  PrefixNode& node = tree_.insert(tokens);
  Checkpoint& checkpoint = checkpoints_.emplace_back(Checkpoint{.node = &node, .slot = slot, .kind = kind, .since = age_});
  node.checkpoint = &checkpoint;
  count(checkpoint);
  return checkpoint;
}

void PrefixCache::remove(Checkpoint& checkpoint) {
  if (!checkpoint.leaving) uncount(checkpoint);
  checkpoint.node->checkpoint = nullptr;
  tree_.remove(*checkpoint.node);
  checkpoints_.remove_if([&](const Checkpoint& other) { return &other == &checkpoint; });
}

void PrefixCache::count(Checkpoint& checkpoint) {
  checkpoint.leaving = false;
  ++counted_;
  for (PrefixNode* node = checkpoint.node; node != nullptr; node = node->parent) ++node->counted;
  bytes_ += own_bytes(checkpoint);
  for (const plan::PageId page : full_pages(checkpoint)) {
    if (++holders_[page] == 1) bytes_ += store_.page_bytes();
  }
}

void PrefixCache::uncount(Checkpoint& checkpoint) {
  checkpoint.leaving = true;
  --counted_;
  for (PrefixNode* node = checkpoint.node; node != nullptr; node = node->parent) --node->counted;
  bytes_ -= own_bytes(checkpoint);
  for (const plan::PageId page : full_pages(checkpoint)) {
    const auto holders = holders_.find(page);
    if (--holders->second > 0) continue;
    holders_.erase(holders);
    bytes_ -= store_.page_bytes();
  }
}

std::optional<PrefixCache::Room> PrefixCache::make_room(Checkpoint& newcomer) {
  Room room{{}, {}, age_};
  if (!store_.recurrent()) {
    for (const PrefixNode* node = newcomer.node->parent; node != nullptr; node = node->parent) {
      if (node->checkpoint == nullptr) continue;
      newcomer.hits += node->checkpoint->hits;  // what it was used for is in the newcomer as well
      room.outgrown.push_back(node->checkpoint);
    }
    for (Checkpoint* const other : room.outgrown) uncount(*other);
  }
  while (bytes_ > budget_ || counted_ > kMaxCheckpoints) {
    Checkpoint* const other = least(newcomer);
    const double worth_of_newcomer = priority(newcomer), worth_of_other = priority(*other);
    if (worth_of_newcomer < worth_of_other) {
      age_ = std::max(age_, worth_of_newcomer);
      for (Checkpoint* const spared : room.outgrown) count(*spared);
      for (Checkpoint* const spared : room.evicted) count(*spared);
      return {};
    }
    room.age = std::max(room.age, worth_of_other);
    uncount(*other);
    room.evicted.push_back(other);
  }
  return room;
}

// Of those that stay, the longest among equals: its end takes nothing from the way of another one.
Checkpoint* PrefixCache::least(const Checkpoint& but) const {
  Checkpoint* least = nullptr;
  double lowest = 0;
  for (const Checkpoint& checkpoint : checkpoints_) {
    if (&checkpoint == &but || checkpoint.leaving) continue;
    const double priority = this->priority(checkpoint);
    if (least != nullptr && (priority > lowest || (priority == lowest && checkpoint.node->depth <= least->node->depth))) continue;
    least = checkpoint.node->checkpoint;
    lowest = priority;
  }
  return least;
}

}  // namespace teapot::engine
