#include "engine/reply_desk.h"

#include "base/log.h"

namespace teapot::engine {
namespace {

// Where all processors belong to the team, whoever wakes now takes one from the thread that is about to begin the next step, and the
// others wait for it. Within a step the workers share out what one of them leaves: measured with 8 streams on two processors, the pause
// between two steps is 0.1 ms instead of 1.
constexpr std::chrono::microseconds kLetTheStepBegin{200};

}  // namespace

ReplyDesk::~ReplyDesk() {
  flush();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  deliver();
}

void ReplyDesk::start() {
  thread_ = std::jthread([this] {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || !ready_.empty(); });
        if (ready_.empty()) return;
      }
      std::this_thread::sleep_for(kLetTheStepBegin);
      deliver();
    }
  });
}

void ReplyDesk::flush() {
  if (pending_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) {
      ready_.swap(pending_);
    } else {
      std::ranges::move(pending_, std::back_inserter(ready_));
    }
  }
  pending_.clear();
  changed_.notify_one();
}

void ReplyDesk::deliver() {
  {
    const std::lock_guard lock(mutex_);
    told_.swap(ready_);
  }
  for (ReplyEvent& event : told_) tell(event);
  told_.clear();
}

void ReplyDesk::tell(ReplyEvent& event) {
  if (event.job == nullptr) {
    if (observer_) observer_->on_step(std::get<StepRecord>(event.what));
    return;
  }
  Choice& choice = *event.job->choices[event.choice];
  if (const auto* prompt = std::get_if<PromptRecord>(&event.what)) {
    if (observer_) observer_->on_prompt(*prompt);
  } else if (const auto* begin = std::get_if<BeginEvent>(&event.what)) {
    choice.first_step = event.at;
    choice.timings.queue_ms = ms_between(event.job->submitted, event.at);
    choice.timings.prompt_tokens = static_cast<uint32_t>(event.job->request.prompt.size());
    choice.timings.cached_tokens = begin->cached_tokens;
  } else if (const auto* prefill = std::get_if<PrefillEvent>(&event.what)) {
    choice.sink->on_prefill(prefill->done, prefill->total);
  } else if (const auto* scored = std::get_if<ScoredEvent>(&event.what)) {
    choice.sink->on_prompt_logprobs(scored->tokens);
  } else if (const auto* token = std::get_if<TokenEvent>(&event.what)) {
    tell_token(event, choice, *token);
  } else if (auto* end = std::get_if<EndEvent>(&event.what)) {
    tell_end(event, choice, *end);
  }
}

// A step that ran before the scheduler heard of the stop has made a token too many: it is nobody's.
void ReplyDesk::tell_token(ReplyEvent& event, Choice& choice, const TokenEvent& token) {
  if (choice.stopped.load(std::memory_order_relaxed)) return;
  Timings& timings = choice.timings;
  if (timings.completion_tokens++ == 0) {
    choice.first_token = event.at;
    timings.prefill_ms = ms_between(choice.first_step, event.at);
  } else if (observer_) {
    observer_->on_token(ms_between(choice.last_token, event.at));
  }
  choice.last_token = event.at;
  timings.decode_ms = ms_between(choice.first_token, event.at);
  if (choice.sink->on_token(token)) return;
  choice.gone = choice.sink->gone();
  choice.stopped.store(true, std::memory_order_relaxed);
}

// A reply that was stopped is whole: whatever became of its sequence in the meantime is not its end. One whose reader has gone is not.
void ReplyDesk::tell_end(ReplyEvent& event, Choice& choice, EndEvent& end) {
  choice.timings.drafts = end.drafts;
  Finish finish{.reason = end.reason, .timings = choice.timings, .error = std::move(end.error)};
  if (choice.stopped.load(std::memory_order_relaxed)) {
    if (finish.error) log::warn("request {} failed after the end of its reply: {}", event.job->id, finish.error->message);
    finish = {.reason = choice.gone ? FinishReason::kCancelled : FinishReason::kStop, .timings = choice.timings, .error = {}};
  }
  if (observer_) {
    observer_->on_reply({.request = event.job->id,
                         .choice = event.choice,
                         .reason = finish.reason,
                         .timings = finish.timings,
                         .error = finish.error ? finish.error->message : ""});
  }
  choice.sink->on_finish(finish);
}

}  // namespace teapot::engine
