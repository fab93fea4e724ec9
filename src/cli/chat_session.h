// A conversation with a person: what was said so far, how to sample, and the commands that change both.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "engine/request.h"

namespace teapot::cli {

class ChatSession {
 public:
  ChatSession(engine::SamplingParams sampling, Json template_kwargs)
      : sampling_(std::move(sampling)), kwargs_(std::move(template_kwargs)) {}

  enum class Next { kReply, kRead, kQuit };
  struct Answer {
    Next next;
    std::string message;  // for the person, may have several lines
  };

  // A line of input: a command (/...), or what the person says.
  Answer read(const std::string& line);

  // What the model replied, or: that it could not, so that the last line is as if it had never been said.
  void add_reply(const std::string& reasoning, const std::string& content);
  void take_back();

  void set_system(std::string text) { system_ = std::move(text); }
  void set_max_tokens(uint32_t tokens) { max_tokens_ = tokens; }

  Json messages() const;  // OpenAI message objects, the system message first
  const Json& template_kwargs() const { return kwargs_; }
  const engine::SamplingParams& sampling() const { return sampling_; }
  uint32_t max_tokens() const { return max_tokens_; }

 private:
  Answer set(const std::string& arguments);

  engine::SamplingParams sampling_;
  Json kwargs_;
  uint32_t max_tokens_ = 0;
  std::string system_;
  Json turns_ = Json::array();
};

}  // namespace teapot::cli
