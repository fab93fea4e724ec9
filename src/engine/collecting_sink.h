// A sink that keeps what it hears and can be waited for: for tests and measurements.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/request.h"

namespace teapot::engine {

class CollectingSink : public ReplySink {
 public:
  // Called on the engine's thread, within the events of the same name.
  std::function<void(uint32_t done)> during_prefill = [](uint32_t) {};
  std::function<bool(size_t tokens)> during_token = [](size_t) { return true; };

  void on_prefill(uint32_t done, uint32_t) override { during_prefill(done); }
  void on_prompt_logprobs(const std::vector<TokenEvent>& scored) override { prompt_events = scored; }
  bool on_token(const TokenEvent& event) override {
    events.push_back(event);
    return during_token(events.size());
  }
  void on_finish(const Finish& finish) override {
    const std::lock_guard lock(mutex_);
    ++finishes_;
    finish_ = finish;
    finished_.notify_all();
  }

  // Waits for the end; what was collected may be read after it.
  const Finish& wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return finish_.has_value(); });
    return *finish_;
  }
  int finishes() {
    const std::lock_guard lock(mutex_);
    return finishes_;
  }

  std::vector<int32_t> ids() const {
    std::vector<int32_t> result;
    result.reserve(events.size());
    for (const TokenEvent& event : events) result.push_back(event.id);
    return result;
  }

  std::vector<TokenEvent> events;
  std::vector<TokenEvent> prompt_events;

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  std::optional<Finish> finish_;
  int finishes_ = 0;
};

}  // namespace teapot::engine
