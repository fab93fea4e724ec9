#include "server/chat_reply.h"

namespace teapot::server {

void ChatReply::add(ReplyStep step) {
  Choice& choice = choices_[step.choice];
  if (step.token && wants_logprobs_) choice.logprobs.push_back(chat_logprob_json(tokenizer_, *step.token));
  choice.parsed.add(std::move(step.deltas));
  if (!step.finish) return;
  usage_.add(step.finish->timings, step.reasoning_tokens);
  choice.finish = std::move(step.finish);
}

Json ChatReply::choice_json(uint32_t index) const {
  const Choice& choice = choices_[index];
  const text::ParsedOutput& parsed = choice.parsed;
  Json message = {{"role", "assistant"}, {"content", parsed.content.empty() ? Json(nullptr) : Json(parsed.content)}, {"refusal", nullptr}};
  if (!parsed.reasoning.empty()) message["reasoning_content"] = parsed.reasoning;
  if (!parsed.tool_calls.empty()) {
    Json calls = Json::array();
    for (const text::ToolCall& call : parsed.tool_calls) calls.push_back(tool_call_json(call));
    message["tool_calls"] = std::move(calls);
  }
  Json json = {{"index", index}, {"message", std::move(message)}};
  json["logprobs"] = wants_logprobs_ ? Json{{"content", choice.logprobs}} : Json(nullptr);
  json["finish_reason"] = finish_reason_name(choice.finish->reason, !parsed.tool_calls.empty());
  if (choices_.size() > 1) json["timings"] = timings_json(choice.finish->timings);
  return json;
}

Json ChatReply::whole() const {
  Json list = Json::array();
  for (uint32_t index = 0; index < choices_.size(); ++index) list.push_back(choice_json(index));
  Json reply = envelope(head_, "", std::move(list));
  reply["usage"] = usage_json(usage_);
  if (choices_.size() == 1) reply["timings"] = timings_json(choices_.front().finish->timings);
  return reply;
}

Json ChatReply::chunk(uint32_t index, Json delta, Json logprobs, Json finish_reason) const {
  Json choice = {{"index", index}};
  choice["delta"] = std::move(delta);
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = std::move(finish_reason);
  Json event = envelope(head_, ".chunk", Json::array({std::move(choice)}));
  if (stream_usage_.in_each) event["usage"] = usage_so_far(stream_usage_, streamed_tokens_);
  return event;
}

Json ChatReply::delta(Choice& choice, const text::OutputEvent& event) {
  if (const auto* reasoning = std::get_if<text::ReasoningDelta>(&event)) return {{"reasoning_content", reasoning->text}};
  if (const auto* content = std::get_if<text::ContentDelta>(&event)) return {{"content", content->text}};
  const auto& call = std::get<text::ToolCallEvent>(event);
  choice.saw_tool_calls = true;
  Json json = {{"index", call.index}};
  json.update(tool_call_json(call.call));
  Json out = Json::object();
  out["tool_calls"] = Json::array({std::move(json)});
  return out;
}

std::string ChatReply::role_event(uint32_t index) {
  if (std::exchange(choices_[index].role_sent, true)) return "";
  return sse(chunk(index, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
}

std::string ChatReply::events(ReplyStep step) {
  const uint32_t index = step.choice;
  Choice& choice = choices_[index];
  std::string out;
  if (step.token || step.finish) out += role_event(index);
  if (step.token) ++streamed_tokens_;
  // A step's logprobs go with its first delta; a step that is held back sends them with an empty one.
  Json logprobs = nullptr;
  if (step.token && wants_logprobs_) {
    logprobs = Json::object();
    logprobs["content"] = Json::array({chat_logprob_json(tokenizer_, *step.token)});
  }
  if (step.deltas.empty() && !logprobs.is_null()) out += sse(chunk(index, Json::object(), std::move(logprobs), nullptr));
  for (const text::OutputEvent& event : step.deltas)
    out += sse(chunk(index, delta(choice, event), std::exchange(logprobs, nullptr), nullptr));
  if (!step.finish) return out;

  usage_.add(step.finish->timings, step.reasoning_tokens);
  Json last = chunk(index, Json::object(), nullptr, finish_reason_name(step.finish->reason, choice.saw_tool_calls));
  last["timings"] = timings_json(step.finish->timings);
  return out + sse(last);
}

std::string ChatReply::last_events() { return stream_usage_.at_end ? usage_event(head_, ".chunk", usage_) : ""; }

}  // namespace teapot::server
