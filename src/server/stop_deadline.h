// The end of patience with a stop: a process that was told to stop ends, whatever hangs.
#pragma once

#include <chrono>
#include <thread>

namespace teapot::server {

class StopDeadline {
 public:
  // From now on the process has `time` until this object is destroyed; else it says so on stderr and exits with 1, without destructors.
  // A later call replaces an earlier one. One thread at a time.
  void arm(std::chrono::milliseconds time);

 private:
  std::jthread thread_;
};

}  // namespace teapot::server
