// A request on its way through the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/request.h"

namespace teapot::engine {

using Clock = std::chrono::steady_clock;

inline double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// One of the replies that a request asks for.
struct Choice {
  std::shared_ptr<ReplySink> sink;
  std::atomic<bool> stopped = false;  // its sink wants no more; read between steps

  // The reply thread's.
  bool gone = false;  // it wants no more since nobody is there to read it
  Timings timings = {};
  Clock::time_point first_step = {}, first_token = {}, last_token = {};
};

struct Job {
  uint64_t id = 0;
  GenerateRequest request;
  std::vector<std::unique_ptr<Choice>> choices;
  Clock::time_point submitted;
  std::atomic<bool> cancelled = false;  // read between steps
};

}  // namespace teapot::engine
