#include "server/stop_deadline.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "base/log.h"

namespace teapot::server {

void StopDeadline::arm(std::chrono::milliseconds time) {
  thread_ = std::jthread([time](const std::stop_token& disarmed) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, disarmed, time, [] { return false; });
    if (disarmed.stop_requested()) return;
    alarm(1);  // a full pipe on stderr may hang the message too
    log::error("the stop has not come to its end within {} s: leaving without it", static_cast<double>(time.count()) / 1000);
    std::_Exit(EXIT_FAILURE);
  });
}

}  // namespace teapot::server
