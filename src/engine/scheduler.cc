// Life of a sequence: how it comes in, from whose state it begins, what becomes of it at its end.
#include "engine/scheduler.h"

#include <algorithm>

#include "base/log.h"

namespace teapot::engine {
namespace {

// Waiting for another's state must spare more than it costs: the copy, and the wait for a turn.
constexpr uint32_t kWorthWaiting = 16;

uint32_t shared_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<uint32_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

Scheduler::Scheduler(const Workplace& place, const SchedulerOptions& options, const StateBudget& budget)
    : backend_(place.backend),
      plans_(place.plans),
      vocabulary_(place.vocabulary),
      queue_(place.queue),
      desk_(place.desk),
      context_(place.context),
      options_(options),
      budget_(budget),
      cost_(options.prefill_chunk + options.max_seqs * (options.draft_limit + 1)),
      recorder_(backend_),
      builder_(options_, vocabulary_, cost_),
      speculation_({.backend = backend_, .plans = plans_, .vocabulary = vocabulary_, .cost = cost_, .recorder = recorder_}, options_),
      cache_(backend_, options.prefix_cache ? budget.cache : 0) {
  publish();
}

void Scheduler::close() {
  recordings_.close(recorder_);
  for (const auto& sequence : sequences_) end(*sequence, FinishReason::kCancelled);
  drop_ended();
  cache_.clear();
  desk_.flush();
}

Status Scheduler::check_fits(uint32_t choices, uint32_t room) const {
  if (choices > options_.max_seqs) {
    return fail(ErrorKind::kInvalid, "{} choices were asked for; at most {} sequences run at a time", choices, options_.max_seqs);
  }
  const uint64_t bytes = choices * backend_.state_bytes(room);
  if (bytes <= budget_.running) return {};
  return fail(ErrorKind::kInvalid, "{} sequence{} of up to {} tokens would take {:.0f} MiB; there are {:.0f} MiB for running ones", choices,
              choices == 1 ? "" : "s", room, static_cast<double>(bytes) / (1 << 20), static_cast<double>(budget_.running) / (1 << 20));
}

bool Scheduler::fits(const Job& job) const {
  const auto choices = static_cast<uint32_t>(job.choices.size());
  return running_ + choices <= options_.max_seqs &&
         promised_ + choices * backend_.state_bytes(room_of(job.request, context_)) <= budget_.running;
}

// Those whose prompt is scored read all of it themselves: a state has no logits.
bool Scheduler::caches(const Sequence& sequence) const {
  return options_.prefix_cache && !sequence.request().prompt_logprobs && !sequence.forgotten;
}

// Who runs goes on, but what was computed before the reset is not found by anybody after it.
void Scheduler::forget_prefixes() {
  cache_.clear();
  for (const auto& sequence : sequences_) {
    sequence->forgotten = true;
    sequence->kept.clear();
    for (const auto& sibling : sequence->siblings) sibling->forgotten = true;
  }
}

void Scheduler::admit(const std::shared_ptr<Job>& job) {
  const uint32_t room = room_of(job->request, context_);
  const auto choices = static_cast<uint32_t>(job->choices.size());
  std::unique_ptr<Sequence> sequence;
  try {
    sequence = std::make_unique<Sequence>(job, 0, vocabulary_, room);
    for (uint32_t i = 1; i < choices; ++i) sequence->siblings.push_back(std::make_unique<Sequence>(job, i, vocabulary_, room));
  } catch (const std::bad_alloc&) {
    queue_.done(*job);
    return dismiss(job, FinishReason::kError, Error{ErrorKind::kMemory, fmt::format("no memory for the tokens of {} sequences", choices)});
  }
  running_ += choices;
  promised_ += choices * backend_.state_bytes(room);
  if (caches(*sequence) && backend_.recurrent() && cache_.budget_bytes() > 0) {
    for (uint32_t at = kCheckpointTokens; at < sequence->prompt; at += kCheckpointTokens) sequence->cuts.insert(at);
    if (job->request.message_end > 0) sequence->cuts.insert(job->request.message_end);
  }
  sequences_.push_back(std::move(sequence));
  begin(*sequences_.back());
}

// From the longest state that is there or will be: the cache's, or that of a sequence that reads the same prompt.
void Scheduler::begin(Sequence& sequence) {
  const uint32_t limit = sequence.prompt - 1;  // the last token's logits are wanted
  std::optional<PrefixCache::Hit> hit;
  if (caches(sequence)) {
    hit = cache_.find(sequence.request().prompt, limit);
    if (begin_with_another(sequence, hit ? hit->tokens : 0)) return;
  }
  if (!hit) return begin_from(sequence, open(sequence.room), 0);
  auto slot = fork(hit->slot, hit->tokens, sequence.room);
  if (!slot && give_back(slot.error())) return begin_from(sequence, open(sequence.room), 0);  // what was hit is gone, too
  begin_from(sequence, std::move(slot), hit->tokens);
}

bool Scheduler::begin_with_another(Sequence& sequence, uint32_t cached) {
  const std::span<const int32_t> prompt(sequence.request().prompt);
  Sequence* best = nullptr;
  uint32_t longest = cached + kWorthWaiting;
  for (const auto& other : sequences_) {
    if (other.get() == &sequence) break;  // only those before it: nobody waits in a ring
    if (other->ended || !caches(*other) || (backend_.recurrent() && !other->prefilling())) continue;
    const uint32_t shared = std::min(shared_prefix(prompt, other->request().prompt), sequence.prompt - 1);
    const bool passed = backend_.recurrent() || !other->slot ? other->begins_at() > shared : false;
    if (shared <= longest || passed) continue;
    longest = shared;
    best = other.get();
  }
  if (best == nullptr) return false;
  sequence.waits_on = best;
  sequence.fork_at = longest;
  if (best->slot && best->committed >= longest) {
    begin_from(sequence, fork_running(*best, longest, sequence.room), longest);
  } else {
    best->cuts.insert(longest);
  }
  return true;
}

// When the system refuses memory, running sequences have it before prefixes do.
bool Scheduler::give_back(const Error& error) {
  if (error.kind != ErrorKind::kMemory || cache_.bytes() == 0) return false;
  log::warn("{}; the prefix cache gives back its {} bytes", error.message, cache_.bytes());
  cache_.clear();
  return true;
}

Result<plan::SlotId> Scheduler::open(uint32_t tokens) {
  const auto slice = recorder_.slice("alloc", "open slot");
  auto slot = backend_.open_slot(tokens);
  return slot || !give_back(slot.error()) ? slot : backend_.open_slot(tokens);
}

Result<plan::SlotId> Scheduler::fork(plan::SlotId from, uint32_t position, uint32_t tokens) {
  const auto slice = recorder_.slice("copy", "fork slot");
  return backend_.fork_slot(from, position, tokens);
}

// Of a sequence that runs: it is there whatever the cache gives back.
Result<plan::SlotId> Scheduler::fork_running(const Sequence& from, uint32_t position, uint32_t tokens) {
  auto slot = fork(*from.slot, position, tokens);
  return slot || !give_back(slot.error()) ? slot : fork(*from.slot, position, tokens);
}

void Scheduler::begin_from(Sequence& sequence, Result<plan::SlotId> slot, uint32_t cached) {
  sequence.waits_on = nullptr;
  const auto now = Clock::now();
  if (!slot) {
    end(sequence, FinishReason::kError, std::move(slot).error());
    return;
  }
  sequence.slot = *slot;
  sequence.committed = sequence.cached = cached;
  sequence.begun = true;
  if (cached > 0) sequence.kept.push_back(cached);
  PromptRecord record{.request = sequence.job->id, .tokens = sequence.prompt, .cached = cached};
  if (caches(sequence)) {
    if (const auto divergence = cache_.divergence(sequence.request().prompt)) {
      record.diverges = true;
      record.index = divergence->index;
      record.cached_token = divergence->cached;
      record.prompt_token = divergence->prompt;
      // Who comes next with this beginning finds a state where the two parted.
      if (backend_.recurrent() && divergence->index > cached + kWorthWaiting) sequence.cuts.insert(divergence->index);
    }
  }
  tell(sequence, record, now);
  tell(sequence, BeginEvent{cached}, now);
  for (const auto& sibling : sequence.siblings) {
    sibling->begun = true;
    tell(*sibling, BeginEvent{cached}, now);
  }
  const std::lock_guard lock(status_mutex_);
  status_.prompt_tokens += sequence.prompt;
  if (caches(sequence)) {
    status_.cache_queries += sequence.prompt;
    status_.cache_hits += cached;
  }
}

// Ends a request that never began.
void Scheduler::dismiss(const std::shared_ptr<Job>& job, FinishReason reason, const std::optional<Error>& error) {
  const auto now = Clock::now();
  const auto say = [&](uint32_t choice, decltype(ReplyEvent::what) what) { desk_.push({job, choice, now, std::move(what)}); };
  for (uint32_t i = 0; i < job->choices.size(); ++i) {
    say(i, BeginEvent{0});
    say(i, EndEvent{reason, error});
  }
}

void Scheduler::sweep() {
  for (const auto& job : queue_.take_cancelled()) dismiss(job, FinishReason::kCancelled);
  for (const auto& sequence : sequences_) {
    if (sequence->job->cancelled.load(std::memory_order_relaxed)) {
      end(*sequence, FinishReason::kCancelled);
    } else if (sequence->reply().stopped.load(std::memory_order_relaxed)) {
      end(*sequence, FinishReason::kStop);
    }
  }
  drop_ended();
}

// Ends a sequence, and with it those choices that it was reading the prompt for. It stays in sequences_ until drop_ended.
void Scheduler::end(Sequence& sequence, FinishReason reason, const std::optional<Error>& error) {
  if (sequence.ended) return;
  keep_or_close(sequence, !error);
  leave(sequence, reason, error);
  for (const auto& sibling : sequence.siblings) leave(*sibling, reason, error);
}

void Scheduler::leave(Sequence& sequence, FinishReason reason, const std::optional<Error>& error) {
  sequence.ended = true;
  speculation_.end(sequence);
  if (!sequence.begun) tell(sequence, BeginEvent{0}, Clock::now());
  --running_;
  promised_ -= backend_.state_bytes(sequence.room);
  tell(sequence, EndEvent{reason, error, sequence.drafted}, Clock::now());
}

// A state is good for whoever goes on from it, however its reply ended, unless it is that of a request that failed: then so may be those
// that it left on its way, and the one that it began from.
void Scheduler::keep_or_close(Sequence& sequence, bool sound) {
  const std::span<const int32_t> tokens(sequence.tokens);
  if (!sound) {
    for (const uint32_t at : sequence.kept) cache_.forget(tokens.first(at));
  }
  if (!sequence.slot) return;
  if (sound && caches(sequence) && sequence.committed > 0) {
    backend_.seal_slot(*sequence.slot);
    cache_.insert(tokens.first(sequence.committed), *sequence.slot,
                  sequence.prefilling() ? CheckpointKind::kBorder : CheckpointKind::kReplyEnd);
  } else {
    backend_.close_slot(*sequence.slot);
  }
  sequence.slot.reset();
}

void Scheduler::drop_ended() {
  std::vector<std::unique_ptr<Sequence>> ended;
  for (auto& sequence : sequences_) {
    if (sequence->ended) ended.push_back(std::move(sequence));
  }
  if (ended.empty()) return;
  std::erase(sequences_, nullptr);
  for (const auto& gone : ended) {
    const auto of_job = [&](const auto& sequence) { return sequence->job == gone->job; };
    if (std::ranges::none_of(sequences_, of_job)) queue_.done(*gone->job);
  }
  for (Sequence* const sequence : waiting_on(ended)) begin(*sequence);
}

std::vector<Sequence*> Scheduler::waiting_on(std::span<const std::unique_ptr<Sequence>> ended) const {
  std::vector<Sequence*> waiting;
  for (const auto& sequence : sequences_) {
    const auto is = [&](const auto& gone) { return gone.get() == sequence->waits_on; };
    if (std::ranges::any_of(ended, is)) waiting.push_back(sequence.get());
  }
  return waiting;
}

void Scheduler::fail_all(const Error& error) {
  std::ranges::move(joining_, std::back_inserter(sequences_));
  joining_.clear();
  for (const auto& sequence : sequences_) end(*sequence, FinishReason::kError, error);
  drop_ended();
  recorder_.drop_step();
  step_began_.store(0, std::memory_order_relaxed);
  publish();
  desk_.flush();
}

void Scheduler::tell(const Sequence& sequence, decltype(ReplyEvent::what) what, Clock::time_point at) {
  desk_.push({sequence.job, sequence.choice, at, std::move(what)});
}

}  // namespace teapot::engine
