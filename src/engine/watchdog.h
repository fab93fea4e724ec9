// Reports a step that takes longer than it may: the only sign of it that can be given while it lasts.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/observer.h"

namespace teapot::engine {

class Watchdog {
 public:
  // began: when the step that runs began, ns of the steady clock, 0 if none does. timeout_s 0: watches nothing. The observer may be null.
  Watchdog(double timeout_s, const std::atomic<int64_t>& began, std::shared_ptr<EngineObserver> observer);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();

  const double timeout_s_;
  const std::atomic<int64_t>& began_;
  std::shared_ptr<EngineObserver> observer_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace teapot::engine
