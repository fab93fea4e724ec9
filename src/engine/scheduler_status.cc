// What the scheduler shows of itself to other threads.
#include "engine/scheduler.h"

namespace teapot::engine {

void Scheduler::publish() {
  const auto usage = backend_.usage();
  const std::lock_guard lock(status_mutex_);
  status_.sequences.clear();
  submitted_.clear();
  for (const auto& sequence : sequences_) {
    const auto add = [&](const Sequence& s) {
      status_.sequences.push_back({.request = s.job->id,
                                   .choice = s.choice,
                                   .state = s.prefilling() ? SequenceState::kPrefill : SequenceState::kDecode,
                                   .prompt_tokens = s.prompt,
                                   .cached_tokens = s.cached,
                                   .computed_tokens = s.committed,
                                   .completion_tokens = s.completion_tokens()});
      submitted_.push_back(s.job->submitted);
    };
    add(*sequence);
    for (const auto& sibling : sequence->siblings) add(*sibling);
  }
  const auto fixed = backend_.fixed_bytes();
  status_.weights = fixed.weights;
  status_.scratch = fixed.scratch;
  status_.state_budget = budget_.running;
  status_.state_promised = promised_;
  status_.state_used = usage.bytes;
  status_.state_kept = usage.kept_bytes;
  status_.cache_budget = cache_.budget_bytes();
  status_.cache_used = cache_.bytes();
  status_.kv_pages = usage.pages;
  status_.kv_page_bytes = backend_.page_bytes();
  status_.checkpoints = cache_.checkpoints();
  status_.evictions = cache_.evictions();
  status_.draft_vocab_hits = speculation_.vocab().coverage().inside;
  status_.draft_vocab_misses = speculation_.vocab().coverage().outside;
  status_.plan_hits = plans_.hits();
  status_.plan_misses = plans_.misses();
}

EngineStatus Scheduler::status() const {
  EngineStatus status;
  std::vector<Clock::time_point> submitted;
  {
    const std::lock_guard lock(status_mutex_);
    status = status_;
    submitted = submitted_;
  }
  queue_.for_waiting([&](const Job& job) {
    status.sequences.push_back({.request = job.id, .prompt_tokens = static_cast<uint32_t>(job.request.prompt.size())});
    submitted.push_back(job.submitted);
  });
  for (size_t i = 0; i < status.sequences.size(); ++i) {
    status.sequences[i].age_s = ms_between(submitted[i], Clock::now()) / 1000;
  }
  return status;
}

}  // namespace teapot::engine
