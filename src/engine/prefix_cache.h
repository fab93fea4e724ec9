// States of token prefixes, kept for requests that begin alike. A checkpoint is a slot that nobody runs: its recurrent state, and the KV
// pages up to its position, which it shares with the others of its kind. Decode thread only.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/prefix_tree.h"
#include "plan/backend.h"

namespace teapot::engine {

// Where a checkpoint comes from: how likely it is that somebody goes on from there.
enum class CheckpointKind : uint8_t { kBorder, kFork, kMessageEnd, kReplyEnd };

struct Checkpoint {
  PrefixNode* node;  // its tokens
  plan::SlotId slot;
  CheckpointKind kind;
  uint32_t hits = 0;
  double since = 0;      // the age of the cache when it was used last
  bool leaving = false;  // not counted any more
};

// Who goes when room is needed is decided by GreedyDual: a checkpoint is worth the tokens that would have to be computed again without it,
// for each byte that its end would free, on top of the cache's age when it was used last. The age is the worth of what was turned away
// last, so that what is not used goes in the end, however dear it was.
class PrefixCache {
 public:
  // budget_bytes: of all checkpoints together, shared pages counted once; 0: the cache is off.
  PrefixCache(plan::StateStore& store, uint64_t budget_bytes) : store_(store), budget_(budget_bytes) {}
  ~PrefixCache() { clear(); }
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  struct Hit {
    plan::SlotId slot;  // to fork from, valid until the cache changes
    uint32_t tokens;    // where
  };
  // The longest checkpoint that `prompt` begins with, at most `limit` tokens long; where states can be cut back, the longest shared
  // prefix. Counts as a use of it, and keeps those on its way young from which others part.
  std::optional<Hit> find(std::span<const int32_t> prompt, uint32_t limit);

  // Where a prompt leaves what is kept: the index of the first token that differs from the nearest checkpoint's, and both tokens. Nothing
  // when the prompt shares no token, is whole, or goes on from the end of a checkpoint.
  struct Divergence {
    uint32_t index;
    int32_t cached, prompt;
  };
  std::optional<Divergence> divergence(std::span<const int32_t> prompt) const;

  // Whether a checkpoint of just these tokens is there.
  bool has(std::span<const int32_t> tokens) const;
  // Whether a fork of a running slot, whose state is after `tokens`, would be kept if it were inserted now: worth the copy. A refusal
  // makes the cache older, as that of insert does.
  bool worth(std::span<const int32_t> tokens, plan::SlotId running, CheckpointKind kind);
  // Takes the slot over: its state is after `tokens`. Closes it when that is kept already or when it is not worth its bytes; closes others
  // to stay within the budget, and, where states can be cut back, the one that this one goes on from.
  void insert(std::span<const int32_t> tokens, plan::SlotId slot, CheckpointKind kind);

  // Closes the checkpoint of just these tokens, if there is one.
  void forget(std::span<const int32_t> tokens);
  void clear();

  uint64_t budget_bytes() const { return budget_; }
  uint64_t bytes() const { return bytes_; }
  uint32_t checkpoints() const { return static_cast<uint32_t>(checkpoints_.size()); }
  uint64_t evictions() const { return evictions_; }

 private:
  std::span<const plan::PageId> full_pages(const Checkpoint& checkpoint) const;
  uint64_t own_bytes(const Checkpoint& checkpoint) const;     // that it shares with nobody, whoever else is there
  uint64_t freed_bytes(const Checkpoint& checkpoint) const;   // by its end
  uint32_t saved_tokens(const Checkpoint& checkpoint) const;  // that would have to be computed again without it
  double priority(const Checkpoint& checkpoint) const;

  bool redundant(std::span<const int32_t> tokens) const;
  bool fits_alone(std::span<const int32_t> tokens) const;
  Checkpoint& add(std::span<const int32_t> tokens, plan::SlotId slot, CheckpointKind kind);
  void remove(Checkpoint& checkpoint);  // leaves the slot open
  // In bytes_, holders_ and the tree.
  void count(Checkpoint& checkpoint);
  void uncount(Checkpoint& checkpoint);
  // What is uncounted to make room, and how old that makes the cache.
  struct Room {
    std::vector<Checkpoint*> outgrown, evicted;
    double age;
  };
  // Nothing: the newcomer is worth less than what would have to go; all others are counted as before.
  std::optional<Room> make_room(Checkpoint& newcomer);
  Checkpoint* least(const Checkpoint& but) const;

  plan::StateStore& store_;
  uint64_t budget_, bytes_ = 0, evictions_ = 0;
  size_t counted_ = 0;  // checkpoints that stay
  double age_ = 0;
  PrefixTree tree_;
  std::list<Checkpoint> checkpoints_;
  std::unordered_map<plan::PageId, uint32_t> holders_;  // full pages: how many checkpoints hold them
};

}  // namespace teapot::engine
