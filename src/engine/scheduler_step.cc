// A step from its rows to its tokens.
#include <algorithm>

#include "base/log.h"
#include "base/thread_clock.h"
#include "engine/scheduler.h"

namespace teapot::engine {

void Scheduler::step() {
  sweep();
  if (reset_.exchange(false)) forget_prefixes();
  while (auto job = queue_.take_if([&](const Job& first) { return fits(first); })) admit(job);
  desk_.flush();
  idle_ = !run_step();
  publish();
  desk_.flush();
}

// False: there was nothing to run.
bool Scheduler::run_step() {
  if (!builder_.build(sequences_)) return false;
  const plan::StepPacket& packet = builder_.packet();
  const auto rows = static_cast<uint32_t>(packet.tokens.size());
  const int64_t worked = thread_cpu_ns();
  const auto start = Clock::now();
  step_began_.store(start.time_since_epoch().count(), std::memory_order_relaxed);
  const Status ran = [&]() -> Status {
    TEAPOT_TRY(const plan::PlanId plan, plans_.get({rows}));
    return backend_.run(plan, packet, result_);
  }();
  const auto stop = Clock::now();
  step_began_.store(0, std::memory_order_relaxed);
  const double host_us = idle_ ? 0 : static_cast<double>(worked - last_step_worked_) / 1000;
  const double gap_us = idle_ ? 0 : 1000 * ms_between(last_step_end_, start);
  last_step_end_ = stop;
  last_step_worked_ = thread_cpu_ns();
  if (!ran) {  // the states of its sequences are in the middle of it
    for (const auto& sequence : sequences_) {
      if (sequence->rows > 0) end(*sequence, FinishReason::kError, ran.error());
    }
    drop_ended();
    return true;
  }
  const StepRecord record{.decode_rows = builder_.decode_rows(),
                          .prefill_rows = builder_.prefill_rows(),
                          .ms = ms_between(start, stop),
                          .host_us = host_us,
                          .gap_us = gap_us,
                          .wait_share = backend_.barrier_wait_share()};
  cost_.observe(rows, record.ms);
  desk_.push({nullptr, 0, stop, record});

  sampled_.clear();
  for (const auto& sequence : sequences_) {
    if (sequence->rows > 0) settle(*sequence);
  }
  std::ranges::move(joining_, std::back_inserter(sequences_));
  joining_.clear();
  sample_all();
  drop_ended();
  const std::lock_guard lock(status_mutex_);
  ++status_.steps;
  status_.prefilled_tokens += record.prefill_rows;
  status_.generation_tokens += sampled_.size();
  return true;
}

// The state has moved on by the sequence's rows.
void Scheduler::settle(Sequence& sequence) {
  const bool prompt = sequence.prefilling();
  const uint32_t rows = std::exchange(sequence.rows, 0);
  sequence.committed += rows;
  if (!prompt) {
    sampled_.emplace_back(&sequence, sequence.first_result);
    return;
  }
  tell(sequence, PrefillEvent{sequence.committed, sequence.prompt}, last_step_end_);
  uint32_t result = sequence.first_result;
  if (sequence.request().prompt_logprobs) {
    if (!score(sequence, rows)) return;
    result += rows - 1;
  }
  at_cut(sequence);
  if (sequence.prefilling()) return;
  sampled_.emplace_back(&sequence, result);
  begin_siblings(sequence, result);
}

// Row t of the step speaks of the prompt's token after it. False: the sequence has ended.
bool Scheduler::score(Sequence& sequence, uint32_t rows) {
  for (uint32_t row = 0; row < rows; ++row) {
    const size_t next = sequence.committed - rows + row + 1;
    if (next == sequence.prompt) break;
    auto event = sequence.sampler.score(result_.logits[sequence.first_result + row], sequence.tokens[next]);
    if (!event) {
      end(sequence, FinishReason::kError, std::move(event).error());
      return false;
    }
    sequence.scored.push_back(*std::move(event));
  }
  if (!sequence.prefilling()) {
    for (const auto& sibling : sequence.siblings) tell(*sibling, ScoredEvent{sequence.scored}, last_step_end_);
    tell(sequence, ScoredEvent{std::move(sequence.scored)}, last_step_end_);
  }
  return true;
}

// Others may wait for the state here, and the cache may want it.
void Scheduler::at_cut(Sequence& sequence) {
  const uint32_t at = sequence.committed;
  for (const auto& other : sequences_) {
    if (other->waits_on != &sequence || other->fork_at > at || other->ended) continue;
    if (backend_.recurrent() && other->fork_at < at) {  // this one had to begin anew, and found a longer state than they share
      begin(*other);
    } else {
      begin_from(*other, backend_.fork_slot(*sequence.slot, other->fork_at, other->room), other->fork_at);
    }
  }
  if (!backend_.recurrent() || at >= sequence.prompt || !sequence.cuts.contains(at) || !caches(sequence)) return;
  const auto tokens = std::span<const int32_t>(sequence.tokens).first(at);
  const CheckpointKind kind = at == sequence.request().message_end ? CheckpointKind::kMessageEnd
                              : at % kCheckpointTokens == 0        ? CheckpointKind::kBorder
                                                                   : CheckpointKind::kFork;
  if (!cache_.worth(tokens, *sequence.slot, kind)) return;
  const auto fork = backend_.fork_slot(*sequence.slot, at, at);
  if (!fork) return log::warn("no checkpoint of {} tokens: {}", at, fork.error().message);
  cache_.insert(tokens, *fork, kind);
  sequence.kept.push_back(at);
}

// The other choices of a request go on from the state after the prompt, each with a token of its own from the same row.
void Scheduler::begin_siblings(Sequence& sequence, uint32_t result) {
  const size_t first = joining_.size();
  std::ranges::move(sequence.siblings, std::back_inserter(joining_));
  sequence.siblings.clear();
  for (size_t i = first; i < joining_.size(); ++i) {
    Sequence& sibling = *joining_[i];
    const auto slot = backend_.fork_slot(*sequence.slot, sequence.committed, sibling.room);
    if (!slot) {
      end(sibling, FinishReason::kError, slot.error());
      continue;
    }
    sibling.slot = *slot;
    sibling.committed = sequence.committed;
    sibling.cached = sequence.cached;
    sampled_.emplace_back(&sibling, result);
  }
}

// Rows with all their logits are shared out among the workers: what they take is of a step's order.
void Scheduler::sample_all() {
  tokens_.assign(sampled_.size(), TokenEvent{});
  const auto has_logits = [&](const auto& entry) { return !result_.logits[entry.second].empty(); };
  if (std::ranges::count_if(sampled_, has_logits) > 1) {
    const size_t workers = backend_.workers();
    const Status ran = backend_.on_workers([&](size_t worker) {
      for (size_t i = worker; i < sampled_.size(); i += workers) tokens_[i] = sample(*sampled_[i].first, sampled_[i].second);
    });
    if (!ran) tokens_.assign(sampled_.size(), std::unexpected(ran.error()));
  } else {
    for (size_t i = 0; i < sampled_.size(); ++i) tokens_[i] = sample(*sampled_[i].first, sampled_[i].second);
  }
  for (size_t i = 0; i < sampled_.size(); ++i) take(*sampled_[i].first, std::move(tokens_[i]));
}

Result<TokenEvent> Scheduler::sample(Sequence& sequence, uint32_t result) {
  const std::span<float> logits = result_.logits[result];
  if (logits.empty()) {
    const auto top = result_.top[result];
    if (sequence.sampler.wants() == plan::RowReturn::kTopK && !top.empty()) return sequence.sampler.sample(top, sequence.committed);
    return sequence.sampler.take(result_.argmax[result], result_.max[result], sequence.committed);
  }
  // Sampling changes the logits; choices of one request share the row that gives their first tokens.
  if (sequence.job->choices.size() == 1 || sequence.completion_tokens() > 0) return sequence.sampler.sample(logits, sequence.committed);
  std::vector<float> own(logits.begin(), logits.end());
  return sequence.sampler.sample(std::span<float>(own), sequence.committed);
}

void Scheduler::take(Sequence& sequence, Result<TokenEvent> event) {
  if (!event) return end(sequence, FinishReason::kError, std::move(event).error());
  const bool stop = event->is_stop;
  sequence.tokens.push_back(event->id);
  tell(sequence, *std::move(event), last_step_end_);
  if (stop) {
    end(sequence, FinishReason::kStop);
  } else if (sequence.committed + 1 == sequence.room) {
    end(sequence, FinishReason::kLength);
  }
}

}  // namespace teapot::engine
