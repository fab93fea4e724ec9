// Takes what the steps give to those who asked for it, on a thread of its own: detokenising, stop strings and sinks never hold up a step.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "engine/job.h"
#include "engine/observer.h"

namespace teapot::engine {

// Events of one choice.
struct BeginEvent {
  uint32_t cached_tokens;
};
struct PrefillEvent {
  uint32_t done, total;
};
struct ScoredEvent {
  std::vector<TokenEvent> tokens;
};
struct EndEvent {
  FinishReason reason;
  std::optional<Error> error;
  DraftCounts drafts = {};
};

struct ReplyEvent {
  std::shared_ptr<Job> job;  // null with records of steps
  uint32_t choice = 0;
  Clock::time_point at = {};
  std::variant<StepRecord, PromptRecord, BeginEvent, PrefillEvent, ScoredEvent, TokenEvent, EndEvent> what;
};

class ReplyDesk {
 public:
  explicit ReplyDesk(std::shared_ptr<EngineObserver> observer = nullptr) : observer_(std::move(observer)) {}
  ~ReplyDesk();  // delivers what is there

  void start();  // the thread; without it deliver() is the owner's to call

  // Decode thread. Events are kept until flush() hands them over together.
  void push(ReplyEvent event) { pending_.push_back(std::move(event)); }
  void flush();

  // All that was handed over, on this thread.
  void deliver();

 private:
  void tell(ReplyEvent& event);
  void tell_token(ReplyEvent& event, Choice& choice, const TokenEvent& token);
  void tell_end(ReplyEvent& event, Choice& choice, EndEvent& end);

  std::shared_ptr<EngineObserver> observer_;
  std::vector<ReplyEvent> pending_;  // the decode thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ReplyEvent> ready_;  // guarded by mutex_
  bool stop_ = false;              // so is this
  std::vector<ReplyEvent> told_;   // the reply thread's
  std::jthread thread_;
};

}  // namespace teapot::engine
