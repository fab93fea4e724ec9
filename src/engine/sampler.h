// Chooses the next token of one sequence: from its logits, or from as little of them as it needs.
//
// Order of operations, on logits z over the vocabulary (as vLLM has it; top_k, top_p, min_p as in transformers):
//   1. ids without a token (padding rows) are out
//   2. logit_bias: z += bias
//   3. repetition penalty, ids of prompt and reply: z > 0 ? z / r : z * r
//   4. frequency and presence penalties, ids of the reply: z -= frequency * count + presence
//   5. before min_tokens: stop tokens are out
//   6. temperature 0: the largest z, lowest id among equals; done
//   7. p = softmax(z / temperature)
//   8. top_k: the k most likely remain (exactly k: lowest ids first among equals), p renormalised
//   9. top_p: a token remains while the sum of those more likely than it is below top_p (one always does), p renormalised
//  10. min_p: those with at least min_p times the largest p remain, p renormalised
//  11. one is drawn, with the random number of (seed, choice, position)
// Log-probabilities are those of the model itself: log-softmax, in double, of the logits as they came, over all rows of the head.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/distribution.h"
#include "engine/request.h"
#include "plan/backend.h"

namespace teapot::engine {

// What the model gives for sampling. Both lists ascending, without duplicates.
struct Vocabulary {
  uint32_t rows = 0;
  std::vector<int32_t> unsampled;  // ids without a token
  std::vector<int32_t> stops;      // the model's stop tokens
};

// For requests without a seed: all choices of one share it.
uint64_t fresh_seed();

class Sampler {
 public:
  // kInvalid, naming the parameter, its value and what it may be.
  static Status check(const GenerateRequest& request, const Vocabulary& vocabulary);

  // The request must have passed check; the vocabulary must outlive the sampler. choice: which of the request's replies, each with draws
  // of its own; they need a seed in the request to share one.
  Sampler(const GenerateRequest& request, const Vocabulary& vocabulary, uint32_t choice = 0);

  // The least that a row must give back for the next token. What is not kLogits has `biases` added before it is compared, and `top_k`
  // candidates or more.
  plan::RowReturn wants() const;
  uint32_t top_k() const { return params_.top_k > 0 ? static_cast<uint32_t>(params_.top_k) : 0; }
  // Appends those in force for the token that comes after `ahead` more, ascending, an id once.
  void biases(uint32_t ahead, std::vector<plan::LogitBias>& out) const;
  // They are the vocabulary's unsampled ids and nothing else.
  bool plain_mask(uint32_t ahead) const;

  // Each gives the same token, from all logits or from what wants() names. position: where the chosen token will stand in its sequence.
  // NaN or infinite logits, or nothing left to choose from: kInternal. The logits are changed.
  Result<TokenEvent> sample(std::span<float> logits, uint64_t position);
  Result<TokenEvent> sample(std::span<const plan::Candidate> top, uint64_t position);
  Result<TokenEvent> take(int32_t argmax, float max, uint64_t position);

  // The event that a token of the prompt would have been, from the logits before it.
  Result<TokenEvent> score(std::span<const float> logits, int32_t id);

 private:
  bool waits(uint32_t ahead = 0) const { return sampled_ + ahead < min_tokens_ && !stops_.empty(); }
  void collect_biases(bool waits, std::vector<plan::LogitBias>& out) const;
  void adjust(std::span<float> logits) const;
  Error no_best(uint64_t position) const;
  Result<int32_t> choose(std::span<const float> logits, uint64_t position);
  int32_t draw_from_top(std::span<const plan::Candidate> top, double u);
  int32_t draw_from(std::span<const plan::Candidate> candidates, double total, double u);
  double gather_likely(std::span<const float> logits, float top);
  int32_t draw_from_all(std::span<const float> logits, float top, double u);
  void add_logprobs(std::span<const float> logits, TokenEvent& event);
  TokenEvent accept(int32_t id);

  const Vocabulary& vocabulary_;
  SamplingParams params_;
  uint64_t seed_;
  uint32_t choice_;
  uint32_t min_tokens_;
  std::optional<uint32_t> top_logprobs_;
  std::vector<int32_t> stops_;  // ascending: what ends this reply

  uint32_t sampled_ = 0;
  std::vector<plan::LogitBias> biases_;  // for the next token
  std::vector<plan::LogitBias> later_;   // while it waits: for tokens that will not
  bool penalise_;
  std::vector<uint32_t> counts_;  // [vocabulary] in the reply; empty without penalties
  std::vector<int32_t> seen_;     // ids in the prompt, then new ones of the reply, each once
  std::vector<bool> is_seen_;     // [vocabulary]

  std::vector<plan::Candidate> candidates_;  // scratch, as are these
  std::vector<double> weights_;
  std::vector<float> raw_;
};

}  // namespace teapot::engine
