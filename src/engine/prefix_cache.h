// States of token prefixes, kept for requests that begin alike. A checkpoint is a slot that nobody runs: its recurrent state, and the KV
// pages up to its position, which it shares with the others of its kind. Decode thread only.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/backend.h"

namespace teapot::engine {

// Where a checkpoint comes from: how likely it is that somebody goes on from there.
enum class CheckpointKind : uint8_t { kBorder, kFork, kMessageEnd, kReplyEnd };

class PrefixCache {
 public:
  // budget_bytes: of all checkpoints together, shared pages counted once; 0: the cache is off.
  PrefixCache(plan::StateStore& store, uint64_t budget_bytes);
  ~PrefixCache();  // closes all slots
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  struct Hit {
    plan::SlotId slot;  // to fork from, valid until the cache changes
    uint32_t tokens;    // where
  };
  // The longest checkpoint that `prompt` begins with, at most `limit` tokens long; where states can be cut back, the longest shared
  // prefix. Counts as a use of it and of those on its way.
  std::optional<Hit> find(std::span<const int32_t> prompt, uint32_t limit);

  // Where a prompt leaves what is kept: the index of the first token that differs from the nearest checkpoint's, and both tokens. Nothing
  // when the prompt shares no token, or is whole.
  struct Divergence {
    uint32_t index;
    int32_t cached, prompt;
  };
  std::optional<Divergence> divergence(std::span<const int32_t> prompt) const;

  // Whether a checkpoint of just these tokens is there.
  bool has(std::span<const int32_t> tokens) const;
  // Whether one of these tokens would be kept if it were inserted now: worth the copy of a running state.
  bool worth(std::span<const int32_t> tokens, CheckpointKind kind) const;
  // Takes the slot over: its state is after `tokens`. Closes it when there is one already or when it is not worth its bytes; closes others
  // to stay within the budget.
  void insert(std::span<const int32_t> tokens, plan::SlotId slot, CheckpointKind kind);

  void clear();

  uint64_t budget_bytes() const { return budget_; }
  uint64_t bytes() const { return bytes_; }
  uint32_t checkpoints() const;
  uint64_t evictions() const { return evictions_; }

 private:
  uint64_t budget_, bytes_ = 0, evictions_ = 0;
};

}  // namespace teapot::engine
