// Requests into steps: who runs, with which rows, whose state is shared, kept, given back. One step a call, on the decode thread; knows no
// kernels, and no threads but through the queue and the desk.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/job_queue.h"
#include "engine/plan_cache.h"
#include "engine/prefix_cache.h"
#include "engine/recording_orders.h"
#include "engine/reply_desk.h"
#include "engine/scheduler_options.h"
#include "engine/sequence.h"
#include "engine/speculation.h"
#include "engine/state_budget.h"
#include "engine/step_builder.h"
#include "engine/step_cost.h"

namespace teapot::engine {

constexpr uint32_t kCheckpointTokens = 512;  // a checkpoint of a prompt every so many tokens

class Scheduler {
 public:
  // What all steps need. References must outlive the scheduler.
  struct Workplace {
    plan::Backend& backend;
    PlanCache& plans;
    const Vocabulary& vocabulary;
    JobQueue& queue;
    ReplyDesk& desk;
    uint32_t context;  // tokens a sequence may have
  };
  Scheduler(const Workplace& place, const SchedulerOptions& options, const StateBudget& budget);
  ~Scheduler() { close(); }
  // What still runs ends as cancelled, all slots are closed. The backend may go then; what other threads ask is still answered.
  void close();

  // Ends what was cancelled or stopped, lets in what fits, runs at most one step.
  void step();
  bool busy() const { return !sequences_.empty(); }
  // Everything that runs ends with this error: after a fault that left its state unknown.
  void fail_all(const Error& error);

  // Costs are to be observed before the first step.
  StepCost& cost() { return cost_; }
  StepCost& draft_cost() { return speculation_.cost(); }

  // kInvalid, with the numbers, for what can never run. Any thread.
  Status check_fits(uint32_t choices, uint32_t room) const;

  RecordingOrders& recordings() { return recordings_; }                   // any thread
  void reset_prefix_cache() { reset_ = true; }                            // any thread; before the next step
  uint32_t running() const { return running_; }                           // sequences; any thread
  EngineStatus status() const;                                            // any thread
  const std::atomic<int64_t>& step_began() const { return step_began_; }  // ns of the steady clock, 0: none runs

 private:
  // Who gets tokens from a step, from which result on: one, and one more for each draft that holds.
  struct Sampled {
    Sequence* sequence;
    uint32_t result;
    std::vector<Result<TokenEvent>> tokens = {};
    uint32_t accepted = 0;  // drafts
  };

  // Life of a sequence.
  bool fits(const Job& job) const;
  void admit(const std::shared_ptr<Job>& job);
  void forget_prefixes();
  void begin(Sequence& sequence);
  bool begin_with_another(Sequence& sequence, uint32_t cached);
  Result<plan::SlotId> open(uint32_t tokens);
  Result<plan::SlotId> fork(plan::SlotId from, uint32_t position, uint32_t tokens);
  Result<plan::SlotId> fork_running(const Sequence& from, uint32_t position, uint32_t tokens);
  bool give_back(const Error& error);
  void begin_from(Sequence& sequence, Result<plan::SlotId> slot, uint32_t cached);
  void dismiss(const std::shared_ptr<Job>& job, FinishReason reason, const std::optional<Error>& error = {});
  void sweep();
  void end(Sequence& sequence, FinishReason reason, const std::optional<Error>& error = {});
  void leave(Sequence& sequence, FinishReason reason, const std::optional<Error>& error);
  void keep_or_close(Sequence& sequence, bool sound);
  void drop_ended();
  std::vector<Sequence*> waiting_on(std::span<const std::unique_ptr<Sequence>> ended) const;

  // A step.
  bool run_step(StepRecord& record);
  Status run_model(StepRecord& record);
  void end_lost(const Error& error);
  void settle(Sequence& sequence);
  bool score(Sequence& sequence, uint32_t rows);
  void at_cut(Sequence& sequence);
  void begin_siblings(Sequence& sequence, uint32_t result);
  void sample_all();
  void sample_rows(Sampled& sampled);
  Result<TokenEvent> sample(Sequence& sequence, uint32_t result, uint64_t position);
  void accept(Sampled& sampled);
  void take_all(Sampled& sampled);
  void take(Sequence& sequence, TokenEvent event);

  void tell(const Sequence& sequence, decltype(ReplyEvent::what) what, Clock::time_point at);
  void publish();
  void hand_off();
  bool caches(const Sequence& sequence) const;

  plan::Backend& backend_;
  PlanCache& plans_;
  const Vocabulary& vocabulary_;
  JobQueue& queue_;
  ReplyDesk& desk_;
  const uint32_t context_;
  const SchedulerOptions options_;
  const StateBudget budget_;

  StepCost cost_;
  RecordingOrders recordings_;
  StepRecorder recorder_;
  StepBuilder builder_;
  Speculation speculation_;
  PrefixCache cache_;
  plan::StepResult result_;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // in the order of their arrival
  std::vector<std::unique_ptr<Sequence>> joining_;    // siblings that begin with the end of the step
  std::vector<Sampled> sampled_;                      // of the step
  uint64_t promised_ = 0;                             // bytes that running sequences may come to
  Clock::time_point last_step_end_{};
  int64_t last_step_worked_ = 0;  // ns of processor time by then
  bool idle_ = true;

  std::atomic<bool> reset_ = false;
  std::atomic<uint32_t> running_ = 0;
  std::atomic<int64_t> step_began_ = 0;
  mutable std::mutex status_mutex_;
  EngineStatus status_;                       // guarded by status_mutex_; the sequences' ages are counted from what is in submitted_
  std::vector<Clock::time_point> submitted_;  // so is this
};

}  // namespace teapot::engine
