// The engine: a loaded model, one decode thread, requests in, tokens out. One sequence runs at a time, the others wait in order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cpu/backend.h"
#include "engine/request.h"
#include "model/model.h"

namespace teapot::engine {

struct EngineOptions {
  cpu::Options backend;
  model::WeightOptions weights = {};  // for load_engine; create takes a model that was loaded with them
  uint32_t context = 0;               // tokens a sequence may have; 0: the model's limit, or what memory allows
  uint32_t prefill_chunk = 512;       // tokens a step
  uint32_t max_queue = 64;            // waiting requests; one more is kBusy
  uint32_t warmup = 3;                // runs of each decode plan before the engine is ready; prefill plans: one, if any
  bool require_plan = false;          // all shapes that can occur have their plan beforehand, or the engine does not start
};

enum class RequestId : uint64_t {};

class Engine {
 public:
  // Takes the model (its ids without a token are listed in `unsampled`: padding rows of the vocabulary, never sampled) and loads it.
  // progress is called on the decode thread, while create waits for it.
  static Result<std::unique_ptr<Engine>> create(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options,
                                                const std::function<void(uint64_t done, uint64_t total)>& progress);
  ~Engine();  // cancels what runs and waits, then joins the decode thread

  // Errors: kInvalid (ids out of range, empty prompt, unusable parameters), kBusy (queue full).
  // A prompt that leaves no room for one token in the context is kInvalid; callers that want the numbers ask context().
  Result<RequestId> submit(GenerateRequest request, std::shared_ptr<ReplySink> sink);

  // Ends the request within one step, wherever it is; on_finish(kCancelled) follows unless it had finished. Unknown ids are ignored.
  void cancel(RequestId id);

  struct Load {
    uint32_t running;
    uint32_t waiting;
  };
  Load load() const;
  bool full() const;  // the next submit would be kBusy

  uint32_t context() const;                   // tokens a sequence may have, prompt and reply together
  const std::string& context_reason() const;  // what limits it, for people
  const model::ModelConfig& config() const;
  const model::GenerationConfig& generation() const;
  std::vector<plan::SwitchReport> switches() const;
  const std::vector<std::string>& notes() const;  // what a user should be told once about how the engine runs

  // Steps that found their plan prepared, and those that had to wait for it.
  struct PlanCounters {
    uint64_t hits, misses;
  };
  PlanCounters plan_counters() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace teapot::engine
