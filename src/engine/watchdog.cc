#include "engine/watchdog.h"

#include <chrono>

#include "base/log.h"

namespace teapot::engine {

Watchdog::Watchdog(double timeout_s, const std::atomic<int64_t>& began, std::shared_ptr<EngineObserver> observer)
    : timeout_s_(timeout_s), began_(began), observer_(std::move(observer)) {
  if (timeout_s > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  using std::chrono::steady_clock;
  int64_t reported = 0;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::duration<double>(timeout_s_ / 4), [&] { return stop_; })) {
    const int64_t began = began_.load(std::memory_order_relaxed);
    if (began == 0 || began == reported) continue;
    const double seconds = std::chrono::duration<double>(steady_clock::now().time_since_epoch() - steady_clock::duration(began)).count();
    if (seconds < timeout_s_) continue;
    reported = began;
    log::error("a step has taken {:.3g} s so far; the limit is {:.3g} s", seconds, timeout_s_);
    if (observer_) observer_->on_stall(seconds);
  }
}

}  // namespace teapot::engine
