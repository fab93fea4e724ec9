// A chat completion as OpenAI's object, and as its chunks.
#pragma once

#include "server/reply_json.h"
#include "server/send_reply.h"

namespace teapot::server {

class ChatReply : public ReplyFormat {
 public:
  // tokenizer must outlive it.
  ChatReply(const text::Tokenizer& tokenizer, const std::string& served_name, bool logprobs, bool include_usage)
      : tokenizer_(tokenizer), head_(ReplyHead::chat(served_name)), wants_logprobs_(logprobs), include_usage_(include_usage) {}

  void add(ReplyStep step) override;
  Json whole(const engine::Finish& finish, uint32_t reasoning_tokens) const override;
  std::string events(ReplyStep step) override;
  std::string last_events(const engine::Finish& finish, uint32_t reasoning_tokens) override;

 private:
  Json chunk(Json delta, Json logprobs, Json finish_reason) const;
  Json delta(const text::OutputEvent& event);

  const text::Tokenizer& tokenizer_;
  ReplyHead head_;
  bool wants_logprobs_;
  bool include_usage_;

  text::ParsedOutput parsed_;      // of a whole reply
  Json logprobs_ = Json::array();  // of a whole reply
  bool role_sent_ = false;         // of a stream
  bool saw_tool_calls_ = false;    // of a stream
};

}  // namespace teapot::server
