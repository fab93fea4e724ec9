#include "cli/reply_waiter.h"

#include <algorithm>

namespace teapot::cli {

bool ReplyWaiter::on_token(const engine::TokenEvent& event) {
  std::vector<text::OutputEvent> events;
  if (text_) events = text_->push(event);
  const std::lock_guard lock(mutex_);
  news_.ids.push_back(event.id);
  add(std::move(events));
  return !text_ || !text_->stopped();
}

void ReplyWaiter::on_finish(const engine::Finish& finish) {
  std::vector<text::OutputEvent> events;
  if (text_) events = text_->finish(finish.reason);
  const std::lock_guard lock(mutex_);
  news_.finish = finish;
  add(std::move(events));
}

void ReplyWaiter::add(std::vector<text::OutputEvent> events) {
  std::ranges::move(events, std::back_inserter(news_.events));
  changed_.notify_one();
}

ReplyWaiter::News ReplyWaiter::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return !news_.ids.empty() || !news_.events.empty() || news_.finish; });
  return std::exchange(news_, {});
}

}  // namespace teapot::cli
