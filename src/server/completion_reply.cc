#include "server/completion_reply.h"

namespace teapot::server {

std::string CompletionReply::take(const ReplyStep& step) {
  std::string text = std::exchange(echo_, "");
  if (!step.prompt_logprobs.empty()) logprobs_.add(tokenizer_, {first_prompt_id_, false, 0, {}}, false);
  for (const engine::TokenEvent& token : step.prompt_logprobs) logprobs_.add(tokenizer_, token, true);
  if (step.token && wants_logprobs_ && !step.token->is_stop) logprobs_.add(tokenizer_, *step.token, true);
  for (const text::OutputEvent& event : step.deltas) text += std::get<text::ContentDelta>(event).text;
  return text;
}

void CompletionReply::add(ReplyStep step) { text_ += take(step); }

Json CompletionReply::chunk(const std::string& text, Json logprobs, Json finish_reason) const {
  Json choice = {{"index", 0}, {"text", text}};
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = std::move(finish_reason);
  return envelope(head_, "", Json::array({std::move(choice)}));
}

Json CompletionReply::whole(const engine::Finish& finish, uint32_t reasoning_tokens) const {
  Json reply = chunk(text_, wants_logprobs_ ? logprobs_.json() : Json(nullptr), finish_reason_name(finish.reason, false));
  reply["usage"] = usage_json(finish.timings, reasoning_tokens);
  reply["timings"] = timings_json(finish.timings);
  return reply;
}

std::string CompletionReply::events(ReplyStep step) {
  const std::string text = take(step);
  const bool has_logprobs = wants_logprobs_ && (step.token || !step.prompt_logprobs.empty());
  if (text.empty() && !has_logprobs) return "";
  Json logprobs = nullptr;
  if (has_logprobs) logprobs = logprobs_.json();
  logprobs_.clear_lists();
  return sse(chunk(text, std::move(logprobs), nullptr));
}

std::string CompletionReply::last_events(const engine::Finish& finish, uint32_t reasoning_tokens) {
  Json last = chunk("", nullptr, finish_reason_name(finish.reason, false));
  last["timings"] = timings_json(finish.timings);
  std::string out = sse(last);
  if (include_usage_) {
    Json usage = envelope(head_, "", Json::array());
    usage["usage"] = usage_json(finish.timings, reasoning_tokens);
    out += sse(usage);
  }
  return out;
}

}  // namespace teapot::server
