// Ctrl-C as something to ask about, for as long as the object lives.
#pragma once

#include <atomic>

namespace teapot::cli {

class InterruptWatch {
 public:
  InterruptWatch();   // SIGINT no longer ends the program
  ~InterruptWatch();  // what it did before
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Whether there was one since the last call.
  bool take();
  // Set by the first one that is not taken.
  const std::atomic<bool>& flag() const;
};

}  // namespace teapot::cli
