// What the engine tells of its work, for metrics, logs and people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/request.h"

namespace teapot::engine {

// What became of drafts in a step, and before it.
struct DraftRecord {
  DraftCounts drafts;                                // of all sequences
  std::array<uint32_t, kMaxDrafts + 1> depths = {};  // [depth]: sequences for which it was chosen
  uint32_t draft_steps = 0;                          // of the backend
  bool decided = false;                              // somebody drafts because it was found to pay
  double draft_ms = 0;
  double catch_up_ms = 0;  // of the MTP layer, with tokens that it had not seen
  double saved_ms = 0;     // about: against the plain steps that would have made as many tokens; below 0: it cost more

  double ms() const { return draft_ms + catch_up_ms; }
};

struct StepRecord {
  uint32_t decode_rows = 0, prefill_rows = 0;
  bool verify = false;  // somebody's decode rows are drafts
  double ms = 0;        // of the backend's run
  // Since the end of the step before, drafts aside, 0 if there was a pause: what the decode thread worked (packet, sampling, bookkeeping),
  // and how long it took by the clock, which is more where others want the same processor.
  double host_us = 0, gap_us = 0;
  double wait_share = 0;  // of the workers' time that they waited for each other
  double replay_ms = 0;   // of `ms`: moving recurrent states over tokens that were accepted, and keeping the log of drafts
  double sample_ms = 0;   // the tokens of the step, and whether its drafts hold
  uint32_t tokens = 0;    // sampled
  DraftRecord drafts = {};
};

// A prompt, when its first piece is about to be computed.
struct PromptRecord {
  uint64_t request = 0;
  uint32_t tokens = 0;
  uint32_t cached = 0;  // of them, found in the prefix cache
  bool diverges = false;
  uint32_t index = 0;                          // of the first token that differs from the nearest cached prefix
  int32_t cached_token = 0, prompt_token = 0;  // both there
};

// A choice that has ended.
struct ReplyRecord {
  uint64_t request = 0;
  uint32_t choice = 0;
  FinishReason reason = FinishReason::kStop;
  Timings timings;
  std::string error;
};

// Called on the engine's reply thread, in the order of events; must not block.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void on_step(const StepRecord& step) = 0;
  virtual void on_prompt(const PromptRecord& prompt) = 0;
  virtual void on_token(double since_last_ms) = 0;  // of the same choice; not for its first
  virtual void on_reply(const ReplyRecord& reply) = 0;
  // From a thread of its own: a step that takes longer than the time-out.
  virtual void on_stall(double seconds) = 0;
};

enum class SequenceState : uint8_t { kWaiting, kPrefill, kDecode };

// A snapshot between two steps.
struct EngineStatus {
  struct Sequence {
    uint64_t request = 0;
    uint32_t choice = 0;
    SequenceState state = SequenceState::kWaiting;
    uint32_t prompt_tokens = 0;
    uint32_t cached_tokens = 0;
    uint32_t computed_tokens = 0;  // in the state
    uint32_t completion_tokens = 0;
    double age_s = 0;  // since it was submitted
  };
  std::vector<Sequence> sequences;  // running ones, then waiting requests in their order

  // Bytes.
  uint64_t weights = 0;         // as they lie in memory
  uint64_t scratch = 0;         // what steps work in
  uint64_t state_budget = 0;    // of running sequences
  uint64_t state_promised = 0;  // what running ones may come to
  uint64_t state_used = 0;      // slots and pages in use, checkpoints among them
  uint64_t state_kept = 0;      // taken from the system, free for the next
  uint64_t cache_budget = 0, cache_used = 0;
  uint64_t kv_pages = 0, kv_page_bytes = 0;
  uint32_t checkpoints = 0;
  uint64_t evictions = 0;

  // Since the start; tokens.
  uint64_t steps = 0;
  uint64_t prompt_tokens = 0;     // of requests that began
  uint64_t prefilled_tokens = 0;  // computed
  uint64_t generation_tokens = 0;
  uint64_t cache_queries = 0, cache_hits = 0;
  uint64_t draft_vocab_hits = 0, draft_vocab_misses = 0;  // sampled tokens that a draft could have said, and that it could not
  uint64_t plan_hits = 0, plan_misses = 0;                // steps that found their plan prepared, and those that had to wait for it
};

}  // namespace teapot::engine
