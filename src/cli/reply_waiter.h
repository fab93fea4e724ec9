// Carries a reply from the engine's thread to the one that prints it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/reply_text.h"
#include "engine/request.h"

namespace teapot::cli {

class ReplyWaiter : public engine::ReplySink {
 public:
  // No text: the model has no tokenizer, and ids are all there is.
  explicit ReplyWaiter(std::optional<engine::ReplyText> text) : text_(std::move(text)) {}

  bool on_token(const engine::TokenEvent& event) override;
  void on_finish(const engine::Finish& finish) override;

  struct News {
    std::vector<int32_t> ids;
    std::vector<text::OutputEvent> events;
    std::optional<engine::Finish> finish;  // nothing comes after it
  };

  // What has come since the last call; waits for it, but not longer than timeout.
  News wait(std::chrono::milliseconds timeout);

 private:
  void add(std::vector<text::OutputEvent> events);

  std::optional<engine::ReplyText> text_;  // the engine thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
};

}  // namespace teapot::cli
