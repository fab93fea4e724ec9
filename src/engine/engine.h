// The engine: a loaded model, one decode thread, requests in, tokens out. Each step takes the next token of all running sequences and a
// piece of a prompt; who finds no room waits in order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cpu/backend.h"
#include "engine/observer.h"
#include "engine/recording.h"
#include "engine/request.h"
#include "engine/scheduler_options.h"
#include "model/model.h"

namespace teapot::engine {

struct EngineOptions {
  cpu::Options backend;
  model::WeightOptions weights = {};  // for load_engine; create takes a model that was loaded with them
  uint32_t context = 0;               // tokens a sequence may have; 0: the model's limit, or what memory holds for max_seqs of them
  uint32_t max_queue = 64;            // waiting requests; one more is kBusy
  uint32_t warmup = 3;                // runs of the decode plans of 1, 2, 4, ... rows before the engine is ready
  bool require_plan = false;          // a step without a plan of its own is an error, instead of being laid out while it waits
  SchedulerOptions scheduler = {};    // of its drafts only replace_draft is the caller's; the engine sets the others from the two below
  std::optional<uint32_t> mtp =
      {};  // drafts in a step, 1 to kMaxDrafts; 0: none; nothing: as many as pay, up to kAutoDrafts, if the model can
  std::optional<uint32_t> draft_vocab = {};  // ids that drafts are chosen from, about; 0: all; nothing: what the head's cost says
  double step_timeout_s = 60;                // a step that takes longer is reported; 0: none is
};

constexpr uint32_t kMaxRecordedSteps = 1000;

enum class RequestId : uint64_t {};

class Engine {
 public:
  // Takes the model (its ids without a token are listed in `unsampled`: padding rows of the vocabulary, never sampled) and loads it.
  // progress is called on the decode thread, while create waits for it.
  static Result<std::unique_ptr<Engine>> create(model::Model model, std::vector<int32_t> unsampled, const EngineOptions& options,
                                                const std::function<void(uint64_t done, uint64_t total)>& progress,
                                                std::shared_ptr<EngineObserver> observer = nullptr);
  ~Engine();  // cancels what runs and waits, then joins the decode thread

  // One sink a choice: they share the prompt's work, and differ by their index in what they draw. Errors: kInvalid (ids out of range,
  // empty prompt, unusable parameters, what can never fit), kBusy (queue full).
  // A prompt that leaves no room for one token in the context is kInvalid; callers that want the numbers ask context().
  Result<RequestId> submit(GenerateRequest request, std::vector<std::shared_ptr<ReplySink>> choices);

  // Ends all choices within one step, wherever they are; on_finish(kCancelled) follows for those that had not finished. Unknown ids are
  // ignored.
  void cancel(RequestId id);

  // What is submitted after it finds nothing of what came before.
  void reset_prefix_cache();

  // Records the next `steps` steps as they are made. done is called once, on the decode thread, with as many as there are when they are
  // complete, when stop_recording() was called, or when memory for them is full; it must not take long. kInvalid: not 1 to
  // kMaxRecordedSteps; kBusy: one recording at a time.
  Status record(uint32_t steps, std::function<void(std::unique_ptr<Recording>)> done);
  void stop_recording();

  struct Load {
    uint32_t running;  // sequences
    uint32_t waiting;  // requests
  };
  Load load() const;
  bool full() const;               // the next submit would be kBusy
  double seconds_a_place() const;  // until one of many that wait begins, and its place in the queue is free; 0: not known yet
  EngineStatus status() const;     // after the last step

  uint32_t context() const;                   // tokens a sequence may have, prompt and reply together
  const std::string& context_reason() const;  // what limits it, for people
  uint32_t draft_limit() const;               // drafts of a sequence in a step; 0: no speculation
  const model::ModelConfig& config() const;
  const model::GenerationConfig& generation() const;
  std::vector<plan::SwitchReport> switches() const;
  const std::vector<std::string>& notes() const;  // what a user should be told once about how the engine runs

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace teapot::engine
