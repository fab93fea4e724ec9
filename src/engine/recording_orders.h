// Recordings that other threads ask the decode thread for, one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "engine/step_recorder.h"

namespace teapot::engine {

class RecordingOrders {
 public:
  // Called once, on the decode thread, between two steps: it must not take long.
  using Done = std::function<void(std::unique_ptr<Recording>)>;

  // Any thread. kBusy while another one is recorded, and after close().
  Status ask(std::unique_ptr<Recording> room, Done done);
  // Any thread: what was asked for ends with the steps that it has.
  void stop() { stop_.store(true, std::memory_order_relaxed); }

  // Decode thread, between two steps: begins what was asked for, hands over what is done.
  void look(StepRecorder& recorder) {
    if (news_.load(std::memory_order_relaxed) || recorder.on()) attend(recorder);
  }
  // Decode thread: hands over what there is, takes no more.
  void close(StepRecorder& recorder);

 private:
  void attend(StepRecorder& recorder);
  void hand_over(std::unique_ptr<Recording> recording);

  std::atomic<bool> news_ = false, stop_ = false;
  std::mutex mutex_;
  std::unique_ptr<Recording> room_;  // guarded by mutex_, as are those below; of an order that was not begun
  Done done_;                        // of the order
  bool closed_ = false;
};

}  // namespace teapot::engine
