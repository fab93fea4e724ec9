#include "engine/job_queue.h"

#include <algorithm>

namespace teapot::engine {

Result<uint64_t> JobQueue::push(std::shared_ptr<Job> job) {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(ErrorKind::kBusy, "the engine is shutting down");
  if (full_locked()) {
    return fail(ErrorKind::kBusy, "{} requests are waiting, which is as many as may", waiting_.size());
  }
  job->id = ++last_id_;
  waiting_.push_back(std::move(job));
  changed_.notify_one();
  return last_id_;
}

void JobQueue::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (const auto& job : running_) {
    if (job->id == id) job->cancelled = true;
  }
  const auto it = std::ranges::find_if(waiting_, [&](const auto& job) { return job->id == id; });
  if (it == waiting_.end()) return;
  cancelled_.push_back(std::move(*it));
  waiting_.erase(it);
  changed_.notify_one();
}

void JobQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& job : running_) job->cancelled = true;
  std::ranges::move(waiting_, std::back_inserter(cancelled_));
  waiting_.clear();
  changed_.notify_one();
}

bool JobQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void JobQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || nudged_ || !waiting_.empty() || !cancelled_.empty(); });
  nudged_ = false;
}

void JobQueue::nudge() {
  const std::lock_guard lock(mutex_);
  nudged_ = true;
  changed_.notify_one();
}

void JobQueue::done(const Job& job) {
  const std::lock_guard lock(mutex_);
  std::erase_if(running_, [&](const auto& running) { return running.get() == &job; });
}

std::vector<std::shared_ptr<Job>> JobQueue::take_cancelled() {
  const std::lock_guard lock(mutex_);
  return std::exchange(cancelled_, {});
}

uint32_t JobQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(waiting_.size());
}

bool JobQueue::full_locked() const {
  size_t taken = 0;
  for (const auto& job : running_) taken += std::max<size_t>(1, job->choices.size());
  return waiting_.size() >= capacity_ + (seats_ - std::min<size_t>(seats_, taken));
}

void JobQueue::taken() {
  constexpr double kWeight = 0.25;  // of a new figure
  const auto now = Clock::now();
  if (last_taken_) {
    const double seconds = ms_between(*last_taken_, now) / 1000;
    seconds_a_place_ += seconds_a_place_ == 0 ? seconds : kWeight * (seconds - seconds_a_place_);
  }
  last_taken_ = waiting_.empty() ? std::nullopt : std::optional(now);
}

double JobQueue::seconds_a_place() const {
  const std::lock_guard lock(mutex_);
  return seconds_a_place_;
}

bool JobQueue::full() const {
  const std::lock_guard lock(mutex_);
  return full_locked();
}

}  // namespace teapot::engine
