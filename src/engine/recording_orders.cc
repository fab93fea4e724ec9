#include "engine/recording_orders.h"

namespace teapot::engine {

Status RecordingOrders::ask(std::unique_ptr<Recording> room, Done done) {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(ErrorKind::kBusy, "the engine is shutting down");
  if (done_) return fail(ErrorKind::kBusy, "steps are being recorded for somebody else");
  room_ = std::move(room);
  done_ = std::move(done);
  stop_.store(false, std::memory_order_relaxed);
  news_.store(true, std::memory_order_relaxed);
  return {};
}

void RecordingOrders::attend(StepRecorder& recorder) {
  if (news_.exchange(false)) {
    const std::lock_guard lock(mutex_);
    recorder.begin(std::move(room_));
  }
  const auto end = recorder.done();
  if (end || stop_.load(std::memory_order_relaxed)) hand_over(recorder.finish(end.value_or(Recording::End::kTime)));
}

void RecordingOrders::hand_over(std::unique_ptr<Recording> recording) {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    done = std::exchange(done_, nullptr);
  }
  done(std::move(recording));
}

void RecordingOrders::close(StepRecorder& recorder) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  if (news_.load() || recorder.on()) {
    stop();
    attend(recorder);
  }
}

}  // namespace teapot::engine
