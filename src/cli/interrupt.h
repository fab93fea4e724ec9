// Ctrl-C as something to ask about, for as long as the object lives.
#pragma once

namespace teapot::cli {

class InterruptWatch {
 public:
  InterruptWatch();   // SIGINT no longer ends the program
  ~InterruptWatch();  // what it did before
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Whether there was one since the last call.
  bool take();
};

}  // namespace teapot::cli
