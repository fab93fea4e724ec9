// A text completion as OpenAI's object, and as its chunks (which have the same form).
#pragma once

#include "server/reply_json.h"
#include "server/send_reply.h"

namespace teapot::server {

class CompletionReply : public ReplyFormat {
 public:
  // tokenizer must outlive it. echo: the prompt's text, to stand before the reply's; prompt: its ids, for their logprobs.
  CompletionReply(const text::Tokenizer& tokenizer, const std::string& served_name, uint32_t choices, bool logprobs,
                  StreamUsage stream_usage, const std::string& echo, int32_t first_prompt_id)
      : tokenizer_(tokenizer),
        head_(ReplyHead::completion(served_name)),
        wants_logprobs_(logprobs),
        stream_usage_(stream_usage),
        first_prompt_id_(first_prompt_id),
        choices_(choices, Choice{echo, {}, {}, {}}) {}

  void add(ReplyStep step) override;
  Json whole() const override;
  std::string events(ReplyStep step) override;
  std::string last_events() override;

 private:
  struct Choice {
    std::string echo;  // emptied when it has been used
    std::string text;  // of a whole reply
    CompletionLogprobs logprobs;
    std::optional<engine::Finish> finish;
  };

  Json choice_json(uint32_t index, const std::string& text, Json logprobs, Json finish_reason) const;
  // What the step adds to text and logprobs of its choice.
  std::string take(const ReplyStep& step);

  const text::Tokenizer& tokenizer_;
  ReplyHead head_;
  bool wants_logprobs_;
  StreamUsage stream_usage_;
  int32_t first_prompt_id_;

  std::vector<Choice> choices_;
  Usage usage_;
  uint32_t streamed_tokens_ = 0;  // of all choices
};

}  // namespace teapot::server
