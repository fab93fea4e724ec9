// A request on its way through the engine, as a connection sees it: the steps of all its choices arrive on one channel, a client that
// leaves ends them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/reply_text.h"
#include "server/api_error.h"
#include "server/channel.h"
#include "server/common_request.h"
#include "server/model_service.h"

namespace teapot::server {

// What one engine step gives a choice: a token and the text that it makes known; the choice's last one has the finish.
struct ReplyStep {
  uint32_t choice = 0;
  std::optional<engine::TokenEvent> token = {};
  std::vector<text::OutputEvent> deltas = {};
  std::vector<engine::TokenEvent> prompt_logprobs = {};  // before the first token, if asked for
  std::optional<engine::Finish> finish = {};
  uint32_t reasoning_tokens = 0;  // with finish
};

class Generation {
 public:
  // Submits, so many choices. The errors are replies: 429 (queue full), 400, 503, 500. The generation is cancelled when the client goes
  // away, and when the object is destroyed before its end.
  static ApiResult<std::unique_ptr<Generation>> start(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request,
                                                      const engine::ReplyTextOptions& text, uint32_t choices);
  ~Generation();

  // All steps that have come; waits at most `timeout` for the first. After the last finish comes kFinished. kOverflow: the client does not
  // keep up; kAborted: it has gone.
  asio::awaitable<Channel<ReplyStep>::Taken> take(std::chrono::milliseconds timeout) { return channel_->take(timeout); }

 private:
  Generation(engine::Engine& engine, std::shared_ptr<Channel<ReplyStep>> channel) : engine_(engine), channel_(std::move(channel)) {}

  engine::Engine& engine_;
  std::shared_ptr<Channel<ReplyStep>> channel_;
  engine::RequestId id_{};
};

// What requests are read against.
RequestDefaults request_defaults(const LoadedModel& model);

// The prompt must leave room for what is asked: else 400 context_length_exceeded, with the numbers.
ApiResult<void> check_context(size_t prompt_tokens, uint32_t max_tokens, uint32_t context, const char* param);

}  // namespace teapot::server
