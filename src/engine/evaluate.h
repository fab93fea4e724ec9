// What a model makes of given tokens: all logits, and on demand every layer's output, the routers' choices and the states. Works on the
// backend directly, for `teapot logits` and for comparisons with golden data.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cpu/backend.h"
#include "engine/plan_cache.h"
#include "model/model.h"

namespace teapot::engine {

struct EvaluateOptions {
  uint32_t chunk = 256;                      // tokens of a prefill step
  std::optional<uint32_t> decode_from = {};  // prefill so many tokens, then one by one
  bool hidden = false;
  bool router = false;
  bool states = false;
};

struct Evaluation {
  std::vector<float> logits;                // [tokens, vocab]
  std::vector<float> hidden;                // [layers+1, tokens, hidden]: the embedding, then each layer's output
  std::vector<int32_t> router;              // [layers with experts, tokens, top_k], by falling probability
  std::vector<plan::StateSnapshot> states;  // [GDN layers], after all tokens
};

class Evaluator {
 public:
  static Result<std::unique_ptr<Evaluator>> create(model::Model model, const cpu::Options& options,
                                                   const std::function<void(uint64_t done, uint64_t total)>& progress = {});

  // In a fresh state. kInvalid: no ids, ids outside the vocabulary, a chunk of 0. kInternal: logits that are NaN or infinite.
  Result<Evaluation> run(std::span<const int32_t> ids, const EvaluateOptions& options);

  const model::Model& model() const { return model_; }
  std::vector<plan::SwitchReport> switches() const;  // the model's and the backend's

 private:
  Evaluator(model::Model model, std::unique_ptr<plan::Backend> backend);

  Status check(std::span<const int32_t> ids, const EvaluateOptions& options) const;
  Status step(plan::SlotId slot, std::span<const int32_t> ids, uint32_t begin, uint32_t rows, const EvaluateOptions& options,
              Evaluation& evaluation);
  void keep_taps(size_t tokens, uint32_t begin, const EvaluateOptions& options, Evaluation& evaluation) const;

  model::Model model_;
  std::unique_ptr<plan::Backend> backend_;
  PlanCache plans_;
  PlanCache tapped_plans_;
  plan::StepPacket packet_;
  plan::StepResult result_;
};

}  // namespace teapot::engine
