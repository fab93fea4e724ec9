// A chat completion as OpenAI's object, and as its chunks.
#pragma once

#include "server/reply_json.h"
#include "server/send_reply.h"

namespace teapot::server {

class ChatReply : public ReplyFormat {
 public:
  // tokenizer must outlive it.
  ChatReply(const text::Tokenizer& tokenizer, const std::string& served_name, uint32_t choices, bool logprobs, StreamUsage stream_usage)
      : tokenizer_(tokenizer),
        head_(ReplyHead::chat(served_name)),
        wants_logprobs_(logprobs),
        stream_usage_(stream_usage),
        choices_(choices) {}

  void add(ReplyStep step) override;
  Json whole() const override;
  std::string events(ReplyStep step) override;
  std::string last_events() override;

 private:
  struct Choice {
    text::ParsedOutput parsed;      // of a whole reply
    Json logprobs = Json::array();  // of a whole reply
    std::optional<engine::Finish> finish;
    bool role_sent = false;       // of a stream
    bool saw_tool_calls = false;  // of a stream
  };

  Json choice_json(uint32_t index) const;
  Json chunk(uint32_t index, Json delta, Json logprobs, Json finish_reason) const;
  Json delta(Choice& choice, const text::OutputEvent& event);
  std::string role_event(uint32_t index);

  const text::Tokenizer& tokenizer_;
  ReplyHead head_;
  bool wants_logprobs_;
  StreamUsage stream_usage_;

  std::vector<Choice> choices_;
  Usage usage_;
  uint32_t streamed_tokens_ = 0;  // of all choices
};

}  // namespace teapot::server
