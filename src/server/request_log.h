// The log of requests: a line for each choice that ends, and at level debug where a prompt leaves what the prefix cache holds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/observer.h"

namespace teapot::server {

// "request id=7 choice=0 prompt=12 …": key=value, texts quoted and escaped.
std::string reply_line(const engine::ReplyRecord& reply);
// cached and prompted: the bytes of the two tokens, which need not be whole characters.
std::string divergence_line(const engine::PromptRecord& prompt, std::string_view cached, std::string_view prompted);

class RequestLog : public engine::EngineObserver {
 public:
  using TokenBytes = std::function<std::string_view(int32_t id)>;

  explicit RequestLog(TokenBytes token_bytes) : token_bytes_(std::move(token_bytes)) {}

  void on_step(const engine::StepRecord&) override {}
  void on_token(double) override {}
  void on_stall(double) override {}  // the engine's own log tells of it
  void on_prompt(const engine::PromptRecord& prompt) override;
  void on_reply(const engine::ReplyRecord& reply) override;

 private:
  TokenBytes token_bytes_;
};

}  // namespace teapot::server
