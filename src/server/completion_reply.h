// A text completion as OpenAI's object, and as its chunks (which have the same form).
#pragma once

#include "server/reply_json.h"
#include "server/send_reply.h"

namespace teapot::server {

class CompletionReply : public ReplyFormat {
 public:
  // tokenizer must outlive it. echo: the prompt's text, to stand before the reply's; prompt: its ids, for their logprobs.
  CompletionReply(const text::Tokenizer& tokenizer, const std::string& served_name, bool logprobs, bool include_usage, std::string echo,
                  int32_t first_prompt_id)
      : tokenizer_(tokenizer),
        head_(ReplyHead::completion(served_name)),
        wants_logprobs_(logprobs),
        include_usage_(include_usage),
        echo_(std::move(echo)),
        first_prompt_id_(first_prompt_id) {}

  void add(ReplyStep step) override;
  Json whole(const engine::Finish& finish, uint32_t reasoning_tokens) const override;
  std::string events(ReplyStep step) override;
  std::string last_events(const engine::Finish& finish, uint32_t reasoning_tokens) override;

 private:
  Json chunk(const std::string& text, Json logprobs, Json finish_reason) const;
  // What the step adds to text and logprobs.
  std::string take(const ReplyStep& step);

  const text::Tokenizer& tokenizer_;
  ReplyHead head_;
  bool wants_logprobs_;
  bool include_usage_;
  std::string echo_;  // emptied when it has been used
  int32_t first_prompt_id_;

  std::string text_;  // of a whole reply
  CompletionLogprobs logprobs_;
};

}  // namespace teapot::server
