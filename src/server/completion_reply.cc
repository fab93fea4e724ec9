#include "server/completion_reply.h"

namespace teapot::server {

std::string CompletionReply::take(const ReplyStep& step) {
  Choice& choice = choices_[step.choice];
  std::string text = std::exchange(choice.echo, "");
  if (!step.prompt_logprobs.empty()) choice.logprobs.add(tokenizer_, {first_prompt_id_, false, 0, {}}, false);
  for (const engine::TokenEvent& token : step.prompt_logprobs) choice.logprobs.add(tokenizer_, token, true);
  if (step.token && wants_logprobs_ && !step.token->is_stop) choice.logprobs.add(tokenizer_, *step.token, true);
  for (const text::OutputEvent& event : step.deltas) text += std::get<text::ContentDelta>(event).text;
  return text;
}

void CompletionReply::add(ReplyStep step) {
  Choice& choice = choices_[step.choice];
  choice.text += take(step);
  if (!step.finish) return;
  usage_.add(step.finish->timings, step.reasoning_tokens);
  choice.finish = std::move(step.finish);
}

Json CompletionReply::choice_json(uint32_t index, const std::string& text, Json logprobs, Json finish_reason) const {
  Json choice = {{"index", index}, {"text", text}};
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = std::move(finish_reason);
  return choice;
}

Json CompletionReply::whole() const {
  Json list = Json::array();
  for (uint32_t index = 0; index < choices_.size(); ++index) {
    const Choice& choice = choices_[index];
    list.push_back(choice_json(index, choice.text, wants_logprobs_ ? choice.logprobs.json() : Json(nullptr),
                               finish_reason_name(choice.finish->reason, false)));
    if (choices_.size() > 1) list.back()["timings"] = timings_json(choice.finish->timings);
  }
  Json reply = envelope(head_, "", std::move(list));
  reply["usage"] = usage_json(usage_);
  if (choices_.size() == 1) reply["timings"] = timings_json(choices_.front().finish->timings);
  return reply;
}

std::string CompletionReply::events(ReplyStep step) {
  const uint32_t index = step.choice;
  const std::string text = take(step);
  const auto chunk = [&](const std::string& piece, Json logprobs, Json finish_reason) {
    Json event = envelope(head_, "", Json::array({choice_json(index, piece, std::move(logprobs), std::move(finish_reason))}));
    if (stream_usage_.in_each) event["usage"] = usage_so_far(stream_usage_, streamed_tokens_);
    return event;
  };
  std::string out;
  if (step.token) ++streamed_tokens_;
  const bool has_logprobs = wants_logprobs_ && (step.token || !step.prompt_logprobs.empty());
  if (!text.empty() || has_logprobs) {
    CompletionLogprobs& lists = choices_[index].logprobs;
    out += sse(chunk(text, has_logprobs ? lists.json() : Json(nullptr), nullptr));
    lists.clear_lists();
  }
  if (!step.finish) return out;

  usage_.add(step.finish->timings, step.reasoning_tokens);
  Json last = chunk("", nullptr, finish_reason_name(step.finish->reason, false));
  last["timings"] = timings_json(step.finish->timings);
  return out + sse(last);
}

std::string CompletionReply::last_events() { return stream_usage_.at_end ? usage_event(head_, "", usage_) : ""; }

}  // namespace teapot::server
