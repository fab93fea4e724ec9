// One request while it runs: its slot in the backend, its sampler, and how far it has come. Lives on the decode thread.
#pragma once

#include <memory>
#include <optional>

#include "base/error.h"
#include "engine/job.h"
#include "engine/plan_cache.h"
#include "engine/sampler.h"
#include "plan/backend.h"

namespace teapot::engine {

// What all sequences of an engine share.
struct Workbench {
  plan::Backend& backend;
  PlanCache& plans;
  const Vocabulary& vocabulary;
  uint32_t context;              // tokens a sequence may have
  uint32_t prefill_chunk;        // tokens a step
  plan::StepPacket packet = {};  // both reused from step to step: decoding allocates next to nothing
  plan::StepResult result = {};
};

class Sequence {
 public:
  // Opens a slot with room for what the request can come to. Both arguments must outlive the sequence.
  static Result<std::unique_ptr<Sequence>> open(Workbench& bench, const Job& job);
  ~Sequence();

  // One step: a chunk of the prompt, or one token; tells the sink. The reason, once the reply is complete.
  Result<std::optional<FinishReason>> step();

  const Timings& timings() const { return timings_; }

 private:
  Sequence(Workbench& bench, const Job& job, plan::SlotId slot);

  Status run(plan::StepKind kind, uint32_t rows, plan::RowReturn each_row);
  Status score_prompt();
  Result<std::optional<FinishReason>> prefill();
  Result<std::optional<FinishReason>> decode();
  Result<std::optional<FinishReason>> emit(std::span<float> logits);

  Workbench& bench_;
  const GenerateRequest& request_;
  ReplySink& sink_;
  plan::SlotId slot_;
  Sampler sampler_;
  uint32_t room_;           // tokens that prompt and reply may come to
  uint32_t committed_ = 0;  // tokens in the slot's state
  int32_t last_ = 0;        // the token sampled last, not yet in the state
  std::vector<TokenEvent> prompt_events_;
  Timings timings_;
  Clock::time_point first_step_;
  Clock::time_point first_token_;
};

}  // namespace teapot::engine
