// Requests in order of arrival, a bounded number of them waiting. Any thread submits and cancels, one takes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "engine/job.h"

namespace teapot::engine {

class JobQueue {
 public:
  // seats: choices that can run at a time; as long as some are free, so many more may wait.
  explicit JobQueue(uint32_t capacity, uint32_t seats = 1) : capacity_(capacity), seats_(seats) {}

  // Gives the job its id. kBusy with as many waiting as may.
  Result<uint64_t> push(std::shared_ptr<Job> job);

  // A waiting job leaves the queue at once, for `take_cancelled`; a running one is marked.
  void cancel(uint64_t id);

  // Cancels everything; nothing can be taken from now on.
  void close();
  bool closed() const;

  // Until there is something to take, cancelled jobs to be finished, a nudge, or the end.
  void wait();
  // Ends the present or the next wait.
  void nudge();

  // The first job if `fits(job)`, else nothing: nobody overtakes it. It is running until `done`.
  template <class F>
  std::shared_ptr<Job> take_if(F&& fits) {
    const std::lock_guard lock(mutex_);
    if (closed_ || waiting_.empty() || !fits(*waiting_.front())) return nullptr;
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    taken();
    return running_.back();
  }
  void done(const Job& job);

  // Those cancelled while they waited: the taker finishes them, so that a sink hears from one thread alone.
  std::vector<std::shared_ptr<Job>> take_cancelled();

  uint32_t waiting() const;
  bool full() const;
  // Between one job's leaving a queue where others wait and the next one's, lately; 0: that has not happened yet.
  double seconds_a_place() const;
  // fn(job) for those that wait, in their order.
  template <class F>
  void for_waiting(F&& fn) const {
    const std::lock_guard lock(mutex_);
    for (const auto& job : waiting_) fn(*job);
  }

 private:
  bool full_locked() const;
  void taken();

  const uint32_t capacity_, seats_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::vector<std::shared_ptr<Job>> cancelled_;
  std::vector<std::shared_ptr<Job>> running_;
  uint64_t last_id_ = 0;
  std::optional<Clock::time_point> last_taken_;  // nothing: nobody has waited since
  double seconds_a_place_ = 0;
  bool nudged_ = false;
  bool closed_ = false;
};

}  // namespace teapot::engine
