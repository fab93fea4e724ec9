// A request on its way through the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "engine/request.h"

namespace teapot::engine {

using Clock = std::chrono::steady_clock;

struct Job {
  uint64_t id = 0;
  GenerateRequest request;
  std::shared_ptr<ReplySink> sink;
  Clock::time_point submitted;
  std::atomic<bool> cancelled = false;  // read between steps
};

}  // namespace teapot::engine
