// Requests in order of arrival, a bounded number of them; one may be running. Any thread submits and cancels, one takes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "engine/job.h"

namespace teapot::engine {

class JobQueue {
 public:
  explicit JobQueue(uint32_t capacity) : capacity_(capacity) {}

  // Gives the job its id. kBusy with capacity jobs waiting. A job that the taker can start at once does not wait.
  Result<uint64_t> push(std::shared_ptr<Job> job);

  // A waiting job leaves the queue at once, for `take_cancelled`; a running one is marked.
  void cancel(uint64_t id);

  // Cancels everything; take returns nothing from now on.
  void close();

  // Waits for the next job, which is running until `done`. Returns nothing when there are cancelled ones to be finished first, or
  // after close.
  std::shared_ptr<Job> take();
  void done();
  bool closed() const;

  // Those cancelled while they waited: the taker finishes them, so that a sink hears from one thread alone.
  std::vector<std::shared_ptr<Job>> take_cancelled();

  struct Load {
    uint32_t running;
    uint32_t waiting;
  };
  Load load() const;
  bool full() const;

 private:
  bool full_locked() const { return waiting_.size() >= capacity_ + (running_ ? 0 : 1); }

  const uint32_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t last_id_ = 0;
  bool closed_ = false;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::vector<std::shared_ptr<Job>> cancelled_;
  std::shared_ptr<Job> running_;
};

}  // namespace teapot::engine
