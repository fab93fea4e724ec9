// A step from its rows to its tokens.
#include <algorithm>

#include "base/log.h"
#include "base/thread_clock.h"
#include "engine/scheduler.h"

namespace teapot::engine {

void Scheduler::step() {
  recordings_.look(recorder_);
  recorder_.begin_step();
  {
    const auto admitting = recorder_.slice("sched", "admit");
    sweep();
    if (reset_.exchange(false)) forget_prefixes();
    while (auto job = queue_.take_if([&](const Job& first) { return fits(first); })) admit(job);
  }
  hand_off();
  StepRecord record;
  idle_ = !run_step(record);
  {
    const auto publishing = recorder_.slice("sched", "publish");
    publish();
  }
  hand_off();
  if (!recorder_.on()) return;
  if (record.decode_rows + record.prefill_rows > 0) recorder_.end_step(record);
  if (!busy() && queue_.waiting() == 0) recorder_.rest();
  recordings_.look(recorder_);  // the next step may be a long time off
}

void Scheduler::hand_off() {
  const auto slice = recorder_.slice("sched", "hand-off");
  desk_.flush();
}

// False: there was nothing to run.
bool Scheduler::run_step(StepRecord& record) {
  step_began_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  const Result<bool> ran = [&]() -> Result<bool> {
    {
      const auto drafting = recorder_.slice("sched", "draft");
      TEAPOT_CHECK(speculation_.draft(sequences_, builder_.expected_prompt_rows(sequences_)));
    }
    {
      const auto building = recorder_.slice("copy", "packet");
      if (!builder_.build(sequences_)) return false;
    }
    TEAPOT_CHECK(run_model(record));
    return true;
  }();
  step_began_.store(0, std::memory_order_relaxed);
  if (!ran) {
    recorder_.drop_step();
    end_lost(ran.error());
    return true;
  }
  if (!*ran) return false;
  last_step_end_ = Clock::now();
  last_step_worked_ = thread_cpu_ns();
  sampled_.clear();
  {
    const auto settling = recorder_.slice("sched", "settle");
    for (const auto& sequence : sequences_) {
      if (sequence->rows > 0) settle(*sequence);
    }
    std::ranges::move(joining_, std::back_inserter(sequences_));
    joining_.clear();
  }
  {
    const auto sampling = recorder_.slice("sample", "sample");
    sample_all();
  }
  {
    const auto accepting = recorder_.slice("sample", "accept");
    for (Sampled& sampled : sampled_) accept(sampled);
  }
  record.sample_ms = ms_between(last_step_end_, Clock::now());
  for (const Sampled& sampled : sampled_) record.tokens += static_cast<uint32_t>(sampled.tokens.size());
  if (record.prefill_rows == 0) speculation_.ended(record.tokens, static_cast<uint32_t>(sampled_.size()), record.ms);
  record.drafts = speculation_.record();
  desk_.push({nullptr, 0, last_step_end_, record});
  for (Sampled& sampled : sampled_) take_all(sampled);
  drop_ended();
  const std::lock_guard lock(status_mutex_);
  ++status_.steps;
  status_.prefilled_tokens += record.prefill_rows;
  status_.generation_tokens += record.tokens;
  return true;
}

// The step of the packet.
Status Scheduler::run_model(StepRecord& record) {
  const plan::StepPacket& packet = builder_.packet();
  const auto rows = static_cast<uint32_t>(packet.tokens.size());
  TEAPOT_TRY(const plan::PlanKind kind, speculation_.prepare(sequences_, packet));
  TEAPOT_TRY(const plan::PlanId plan, get_plan(plans_, {rows, kind}, recorder_));
  const auto running = recorder_.slice("sched", "run");
  const int64_t worked = thread_cpu_ns();
  const auto start = Clock::now();
  TEAPOT_CHECK(backend_.run(plan, packet, result_));
  record.decode_rows = builder_.decode_rows();
  record.prefill_rows = builder_.prefill_rows();
  record.ms = ms_between(start, Clock::now());
  const plan::StepShares shares = backend_.shares();
  record.wait_share = shares.waiting;
  record.replay_ms = shares.replaying * record.ms;
  record.verify = std::ranges::any_of(packet.sequences, [](const auto& sequence) { return sequence.kind == plan::StepKind::kVerify; });
  if (!idle_) {
    const double drafted_us = 1000 * speculation_.record().ms();
    record.host_us = std::max(0.0, static_cast<double>(worked - last_step_worked_) / 1000 - drafted_us);
    record.gap_us = std::max(0.0, 1000 * ms_between(last_step_end_, start) - drafted_us);
  }
  cost_.observe(rows, record.ms);
  recorder_.ran("", plan);
  return {};
}

// The states of those that were in a step that failed are in the middle of it.
void Scheduler::end_lost(const Error& error) {
  for (const auto& sequence : sequences_) {
    if (sequence->rows > 0 || speculation_.in_step(*sequence)) end(*sequence, FinishReason::kError, error);
  }
  drop_ended();
}

// The state has moved on by the rows of a prompt's piece. What becomes of a reply's is decided by what is sampled from them.
void Scheduler::settle(Sequence& sequence) {
  if (!sequence.prefilling()) {
    sampled_.push_back({&sequence, sequence.first_result});
    return;
  }
  const uint32_t rows = std::exchange(sequence.rows, 0);
  sequence.committed += rows;
  tell(sequence, PrefillEvent{sequence.committed, sequence.prompt}, last_step_end_);
  uint32_t result = sequence.first_result;
  if (sequence.request().prompt_logprobs) {
    if (!score(sequence, rows)) return;
    result += rows - 1;
  }
  at_cut(sequence);
  if (sequence.prefilling()) return;
  sampled_.push_back({&sequence, result});
  speculation_.begin(sequence);
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
      begin_from(*other, fork_running(sequence, other->fork_at, other->room), other->fork_at);
    }
  }
  if (!backend_.recurrent() || at >= sequence.prompt || !sequence.cuts.contains(at) || !caches(sequence)) return;
  const auto tokens = std::span<const int32_t>(sequence.tokens).first(at);
  const CheckpointKind kind = at == sequence.request().message_end ? CheckpointKind::kMessageEnd
                              : at % kCheckpointTokens == 0        ? CheckpointKind::kBorder
                                                                   : CheckpointKind::kFork;
  if (!cache_.worth(tokens, *sequence.slot, kind)) return;
  const auto checkpoint = fork(*sequence.slot, at, at);
  if (!checkpoint) return log::warn("no checkpoint of {} tokens: {}", at, checkpoint.error().message);
  cache_.insert(tokens, *checkpoint, kind);
  sequence.kept.push_back(at);
}

// The other choices of a request go on from the state after the prompt, each with a token of its own from the same row.
void Scheduler::begin_siblings(Sequence& sequence, uint32_t result) {
  const size_t first = joining_.size();
  std::ranges::move(sequence.siblings, std::back_inserter(joining_));
  sequence.siblings.clear();
  for (size_t i = first; i < joining_.size(); ++i) {
    Sequence& sibling = *joining_[i];
    const auto slot = fork_running(sequence, sequence.committed, sibling.room);
    if (!slot) {
      end(sibling, FinishReason::kError, slot.error());
      continue;
    }
    sibling.slot = *slot;
    sibling.committed = sequence.committed;
    sibling.cached = sequence.cached;
    sampled_.push_back({&sibling, result});
    speculation_.begin(sibling);
  }
}

// Rows with all their logits are shared out among the workers: what they take is of a step's order.
void Scheduler::sample_all() {
  const auto has_logits = [&](const Sampled& sampled) { return !result_.logits[sampled.result].empty(); };
  if (std::ranges::count_if(sampled_, has_logits) > 1) {
    const size_t workers = backend_.workers();
    const Status ran = backend_.on_workers([&](size_t worker) {
      for (size_t i = worker; i < sampled_.size(); i += workers) sample_rows(sampled_[i]);
    });
    if (!ran) {
      for (Sampled& sampled : sampled_) sampled.tokens.assign(1, std::unexpected(ran.error()));
    }
  } else {
    for (Sampled& sampled : sampled_) sample_rows(sampled);
  }
}

// As if each token had been the only one of a step: a row counts for as long as what was drafted before it is what is sampled.
void Scheduler::sample_rows(Sampled& sampled) {
  Sequence& sequence = *sampled.sequence;
  const uint64_t position = sequence.tokens.size();
  for (uint32_t row = 0;; ++row) {
    const auto& token = sampled.tokens.emplace_back(sample(sequence, sampled.result + row, position + row));
    if (!token || row == sequence.drafts.size() || sequence.rows == 0) return;
    if (token->id != sequence.drafts[row]) return;
    ++sampled.accepted;
    if (token->is_stop) return;
  }
}

Result<TokenEvent> Scheduler::sample(Sequence& sequence, uint32_t result, uint64_t position) {
  const std::span<float> logits = result_.logits[result];
  if (logits.empty()) {
    const auto top = result_.top[result];
    if (sequence.sampler.wants() == plan::RowReturn::kTopK && !top.empty()) return sequence.sampler.sample(top, position);
    return sequence.sampler.take(result_.argmax[result], result_.max[result], position);
  }
  // Sampling changes the logits; choices of one request share the row that gives their first tokens.
  if (sequence.job->choices.size() == 1 || sequence.completion_tokens() > 0) return sequence.sampler.sample(logits, position);
  std::vector<float> own(logits.begin(), logits.end());
  return sequence.sampler.sample(std::span<float>(own), position);
}

// The rows that tokens were sampled from become part of the state.
void Scheduler::accept(Sampled& sampled) {
  Sequence& sequence = *sampled.sequence;
  const bool decoded = std::exchange(sequence.rows, 0) > 0;
  if (!decoded || !sampled.tokens.back()) return;
  const auto tokens = static_cast<uint32_t>(sampled.tokens.size()), drafts = static_cast<uint32_t>(sequence.drafts.size());
  if (drafts > 0) {
    if (const Status accepted = backend_.accept(*sequence.slot, tokens); !accepted) {
      sampled.tokens.assign(1, std::unexpected(accepted.error()));
      return;
    }
    speculation_.verified(sequence, std::min(tokens, drafts), sampled.accepted);
  }
  sequence.committed += tokens;
}

// What came before a row that failed is part of the reply, as it would be of steps of their own.
void Scheduler::take_all(Sampled& sampled) {
  for (auto& token : sampled.tokens) {
    if (!token) return end(*sampled.sequence, FinishReason::kError, token.error());
    take(*sampled.sequence, *std::move(token));
  }
}

void Scheduler::take(Sequence& sequence, TokenEvent event) {
  const bool stop = event.is_stop;
  sequence.tokens.push_back(event.id);
  speculation_.sampled(event.id);
  tell(sequence, std::move(event), last_step_end_);
  if (stop) {
    end(sequence, FinishReason::kStop);
  } else if (sequence.tokens.size() == sequence.room) {
    end(sequence, FinishReason::kLength);
  }
}

}  // namespace teapot::engine
