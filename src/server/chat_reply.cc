#include "server/chat_reply.h"

namespace teapot::server {

void ChatReply::add(ReplyStep step) {
  if (step.token && wants_logprobs_) logprobs_.push_back(chat_logprob_json(tokenizer_, *step.token));
  parsed_.add(std::move(step.deltas));
}

Json ChatReply::whole(const engine::Finish& finish, uint32_t reasoning_tokens) const {
  Json message = {
      {"role", "assistant"}, {"content", parsed_.content.empty() ? Json(nullptr) : Json(parsed_.content)}, {"refusal", nullptr}};
  if (!parsed_.reasoning.empty()) message["reasoning_content"] = parsed_.reasoning;
  if (!parsed_.tool_calls.empty()) {
    Json calls = Json::array();
    for (const text::ToolCall& call : parsed_.tool_calls) calls.push_back(tool_call_json(call));
    message["tool_calls"] = std::move(calls);
  }
  Json choice = {{"index", 0}, {"message", std::move(message)}};
  choice["logprobs"] = wants_logprobs_ ? Json{{"content", logprobs_}} : Json(nullptr);
  choice["finish_reason"] = finish_reason_name(finish.reason, !parsed_.tool_calls.empty());
  Json reply = envelope(head_, "", Json::array({std::move(choice)}));
  reply["usage"] = usage_json(finish.timings, reasoning_tokens);
  reply["timings"] = timings_json(finish.timings);
  return reply;
}

Json ChatReply::chunk(Json delta, Json logprobs, Json finish_reason) const {
  Json choice = {{"index", 0}};
  choice["delta"] = std::move(delta);
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = std::move(finish_reason);
  return envelope(head_, ".chunk", Json::array({std::move(choice)}));
}

Json ChatReply::delta(const text::OutputEvent& event) {
  if (const auto* reasoning = std::get_if<text::ReasoningDelta>(&event)) return {{"reasoning_content", reasoning->text}};
  if (const auto* content = std::get_if<text::ContentDelta>(&event)) return {{"content", content->text}};
  const auto& call = std::get<text::ToolCallEvent>(event);
  saw_tool_calls_ = true;
  Json json = {{"index", call.index}};
  json.update(tool_call_json(call.call));
  Json out = Json::object();
  out["tool_calls"] = Json::array({std::move(json)});
  return out;
}

std::string ChatReply::events(ReplyStep step) {
  std::string out;
  if (step.token && !std::exchange(role_sent_, true)) out += sse(chunk({{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
  // A step's logprobs go with its first delta; a step that is held back sends them with an empty one.
  Json logprobs = nullptr;
  if (step.token && wants_logprobs_) {
    logprobs = Json::object();
    logprobs["content"] = Json::array({chat_logprob_json(tokenizer_, *step.token)});
  }
  if (step.deltas.empty() && !logprobs.is_null()) out += sse(chunk(Json::object(), std::move(logprobs), nullptr));
  for (const text::OutputEvent& event : step.deltas) out += sse(chunk(delta(event), std::exchange(logprobs, nullptr), nullptr));
  return out;
}

std::string ChatReply::last_events(const engine::Finish& finish, uint32_t reasoning_tokens) {
  std::string out;
  if (!std::exchange(role_sent_, true)) out += sse(chunk({{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
  Json last = chunk(Json::object(), nullptr, finish_reason_name(finish.reason, saw_tool_calls_));
  last["timings"] = timings_json(finish.timings);
  out += sse(last);
  if (include_usage_) {
    Json usage = envelope(head_, ".chunk", Json::array());
    usage["usage"] = usage_json(finish.timings, reasoning_tokens);
    out += sse(usage);
  }
  return out;
}

}  // namespace teapot::server
