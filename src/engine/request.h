// A request as the engine takes it, and what it gives back: tokens, then one finish.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace teapot::engine {

constexpr uint32_t kMaxDrafts = 8;  // of a sequence in a step
// The same, where the engine chooses: the fifth in a row seldom holds, and room for each takes 5 % of a state.
constexpr uint32_t kAutoDrafts = 4;

struct SamplingParams {
  float temperature = 1;  // 0: greedy
  int top_k = 0;          // 0: off
  float top_p = 1;
  float min_p = 0;
  float presence_penalty = 0;    // over tokens of the reply
  float frequency_penalty = 0;   // over tokens of the reply
  float repetition_penalty = 1;  // over tokens of prompt and reply
  std::map<int32_t, float> logit_bias = {};
  std::optional<uint64_t> seed = {};  // a seeded reply depends on nothing but the request and the choice's index
};

struct GenerateRequest {
  std::vector<int32_t> prompt = {};  // at least one token
  SamplingParams sampling = {};
  uint32_t max_tokens = 0;                    // 0: up to the context limit
  uint32_t min_tokens = 0;                    // stop tokens cannot be sampled before
  std::vector<int32_t> stop_token_ids = {};   // besides the model's
  bool ignore_eos = false;                    // the model's stop tokens are ordinary ones
  std::optional<uint32_t> top_logprobs = {};  // nothing: no logprobs; 0: of the sampled token alone
  bool prompt_logprobs = false;               // of the prompt's tokens too (echo), with as many alternatives; never from the cache
  std::optional<uint32_t> draft_depth = {};   // drafts a step at most; 0: none; nothing: the engine's own
  uint32_t message_end = 0;                   // tokens of the prompt up to its last complete message: a checkpoint; 0: none
};

struct TokenLogprob {
  int32_t id;
  float logprob;
};

struct TokenEvent {
  int32_t id;
  bool is_stop = false;                // a stop token: counts as output, is not text
  float logprob = 0;                   // if asked for: of the model's own distribution (temperature 1, before penalties)
  std::vector<TokenLogprob> top = {};  // the most likely, falling
};

enum class FinishReason { kStop, kLength, kCancelled, kError };

// Drafts by their place in their step, the first of a step at 0.
struct DraftCounts {
  uint64_t rounds = 0;  // steps with drafts
  std::array<uint64_t, kMaxDrafts> drafted = {};
  std::array<uint64_t, kMaxDrafts> accepted = {};

  // One round of a sequence.
  void add(uint32_t round_drafted, uint32_t round_accepted) {
    rounds += round_drafted > 0 ? 1 : 0;
    for (uint32_t i = 0; i < round_drafted; ++i) ++drafted[i];
    for (uint32_t i = 0; i < round_accepted; ++i) ++accepted[i];
  }
  DraftCounts& operator+=(const DraftCounts& other) {
    rounds += other.rounds;
    for (uint32_t i = 0; i < kMaxDrafts; ++i) {
      drafted[i] += other.drafted[i];
      accepted[i] += other.accepted[i];
    }
    return *this;
  }
};

struct Timings {
  double queue_ms = 0;    // submitted -> first step
  double prefill_ms = 0;  // first step -> first token
  double decode_ms = 0;   // first token -> last token
  uint32_t prompt_tokens = 0;
  uint32_t cached_tokens = 0;  // of the prompt, taken from the prefix cache
  uint32_t completion_tokens = 0;
  DraftCounts drafts = {};

  double ttft_ms() const { return queue_ms + prefill_ms; }
  double tpot_ms() const { return completion_tokens > 1 ? decode_ms / (completion_tokens - 1) : 0; }
};

struct Finish {
  FinishReason reason;
  Timings timings;
  std::optional<Error> error;  // with kError
};

// Receives the events of one choice of a request on the engine's reply thread, beside the steps; must not block.
class ReplySink {
 public:
  virtual ~ReplySink() = default;

  // While the prompt is read, after each chunk.
  virtual void on_prefill(uint32_t /*done_tokens*/, uint32_t /*prompt_tokens*/) {}
  // Only with prompt_logprobs, before the first token; the first prompt token has none and is left out.
  virtual void on_prompt_logprobs(const std::vector<TokenEvent>& /*events*/) {}
  // False ends the request (a stop string was found): on_finish follows with kStop.
  virtual bool on_token(const TokenEvent& event) = 0;
  // Asked when on_token gave false: whether that is because nobody is there to read; on_finish follows with kCancelled then.
  virtual bool gone() const { return false; }
  // Last call, exactly once.
  virtual void on_finish(const Finish& finish) = 0;
};

}  // namespace teapot::engine
