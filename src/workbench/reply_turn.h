// Replies at a time through an engine, timed, and drafts that hold as often as a measurement says: what speculation and levers are
// measured with.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"

namespace teapot::workbench {

// By their place in their step; several lists: each for an equal share of a reply. Empty: drafts are the MTP layer's own.
using AcceptRates = std::vector<std::vector<double>>;

// kInvalid for an empty list and for a rate that is no chance.
Status check_rates(const AcceptRates& rates);

// Knows the replies, and replaces drafts by right and wrong tokens. Must outlive the engine that asks it.
class ForcedDrafts {
 public:
  // gen: tokens of a reply, which several lists share.
  ForcedDrafts(AcceptRates rates, uint32_t gen) : rates_(std::move(rates)), gen_(gen) {}

  // Makes the engine ask, if there are rates.
  void install(engine::EngineOptions& options);

  // Of a request that is submitted by `submit` under the lock: no draft of it is made before its true reply is known.
  template <class Submit>
  Result<engine::RequestId> add(uint32_t sequence, size_t prompt_tokens, std::vector<int32_t> reply, Submit&& submit) {
    const std::lock_guard lock(mutex_);
    TEAPOT_TRY(const engine::RequestId id, submit());
    replies_[static_cast<uint64_t>(id)] = {sequence, prompt_tokens, std::move(reply)};
    return id;
  }
  // Those of requests that have ended.
  void forget();

 private:
  int32_t replace(const engine::Draft& draft);

  struct Reply {
    uint32_t sequence;
    size_t prompt_tokens;
    std::vector<int32_t> ids;
  };
  const AcceptRates rates_;
  const uint32_t gen_;
  std::mutex mutex_;
  std::map<uint64_t, Reply> replies_;  // guarded by mutex_
};

struct ReplyTurn {
  std::vector<std::vector<int32_t>> ids;  // [requests]
  double tpot_ms = 0;                     // the protocol's: (last token - first) / (tokens - 1), mean of the replies that have two
};

// The requests together, until all have ended. truth: [requests] their true replies, for forced drafts; nothing is known of one that is
// empty.
Result<ReplyTurn> run_turn(engine::Engine& engine, std::vector<engine::GenerateRequest> requests, ForcedDrafts& forced,
                           const std::vector<std::vector<int32_t>>& truth);

}  // namespace teapot::workbench
