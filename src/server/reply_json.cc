#include "server/reply_json.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

namespace teapot::server {
namespace {

int64_t now_s() { return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// A token's bytes as text of its own; a part of a character becomes U+FFFD when the JSON is written.
std::string token_text(const text::Tokenizer& tokenizer, int32_t id) { return std::string(tokenizer.bytes(id)); }

Json one_logprob(const text::Tokenizer& tokenizer, int32_t id, float logprob) {
  const std::string text = token_text(tokenizer, id);
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", text}, {"logprob", logprob}, {"bytes", std::move(bytes)}};
}

}  // namespace

std::string random_id(const std::string& prefix) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{}{:016x}{:08x}", prefix, random(), static_cast<uint32_t>(random()));
}

ReplyHead ReplyHead::chat(const std::string& model) { return {random_id("chatcmpl-"), "chat.completion", model, now_s()}; }

ReplyHead ReplyHead::completion(const std::string& model) { return {random_id("cmpl-"), "text_completion", model, now_s()}; }

void Usage::add(const engine::Timings& choice, uint32_t reasoning) {
  prompt_tokens = choice.prompt_tokens;
  cached_tokens = choice.cached_tokens;
  completion_tokens += choice.completion_tokens;
  reasoning_tokens += reasoning;
}

Json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

Json usage_so_far(const StreamUsage& usage, uint32_t completion_tokens) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", usage.prompt_tokens + completion_tokens}};
}

Json timings_json(const engine::Timings& timings) {
  const auto rate = [](double tokens, double ms) { return ms > 0 && tokens > 0 ? tokens * 1000 / ms : 0.0; };
  Json json = {{"queue_ms", timings.queue_ms},
               {"prefill_ms", timings.prefill_ms},
               {"decode_ms", timings.decode_ms},
               {"tpot_ms", timings.tpot_ms()},
               {"prefill_tokens_per_second", rate(timings.prompt_tokens - timings.cached_tokens, timings.prefill_ms)},
               {"decode_tokens_per_second", rate(timings.completion_tokens > 0 ? timings.completion_tokens - 1 : 0, timings.decode_ms)}};
  const engine::DraftCounts& drafts = timings.drafts;
  if (drafts.rounds == 0) return json;
  Json by_position = Json::array();
  for (size_t i = 0; i < drafts.drafted.size() && drafts.drafted[i] > 0; ++i) {
    by_position.push_back({{"drafted", drafts.drafted[i]}, {"accepted", drafts.accepted[i]}});
  }
  json["speculation"] = {{"rounds", drafts.rounds},
                         {"drafted", std::accumulate(drafts.drafted.begin(), drafts.drafted.end(), uint64_t{0})},
                         {"accepted", std::accumulate(drafts.accepted.begin(), drafts.accepted.end(), uint64_t{0})},
                         {"by_position", std::move(by_position)}};
  return json;
}

std::string finish_reason_name(engine::FinishReason reason, bool saw_tool_calls) {
  if (reason == engine::FinishReason::kLength) return "length";
  return saw_tool_calls ? "tool_calls" : "stop";
}

Json envelope(const ReplyHead& head, const std::string& object_suffix, Json choices) {
  return {{"id", head.id},       {"object", head.object + object_suffix},          {"created", head.created},
          {"model", head.model}, {"system_fingerprint", "teapot-" TEAPOT_VERSION}, {"choices", std::move(choices)}};
}

Json tool_call_json(const text::ToolCall& call) {
  return {{"id", random_id("call_")}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", dump_json(call.arguments)}}}};
}

Json chat_logprob_json(const text::Tokenizer& tokenizer, const engine::TokenEvent& token) {
  Json entry = one_logprob(tokenizer, token.id, token.logprob);
  Json top = Json::array();
  for (const engine::TokenLogprob& other : token.top) top.push_back(one_logprob(tokenizer, other.id, other.logprob));
  entry["top_logprobs"] = std::move(top);
  return entry;
}

void CompletionLogprobs::add(const text::Tokenizer& tokenizer, const engine::TokenEvent& token, bool has_logprob) {
  const std::string text = token_text(tokenizer, token.id);
  tokens_.push_back(text);
  offsets_.push_back(offset_);
  offset_ +=
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  if (!has_logprob) {
    logprobs_.push_back(nullptr);
    top_.push_back(nullptr);
    return;
  }
  logprobs_.push_back(token.logprob);
  Json top = Json::object();
  for (const engine::TokenLogprob& other : token.top) top[token_text(tokenizer, other.id)] = other.logprob;
  top_.push_back(std::move(top));
}

void CompletionLogprobs::clear_lists() { tokens_ = logprobs_ = top_ = offsets_ = Json::array(); }

Json CompletionLogprobs::json() const {
  return {{"tokens", tokens_}, {"token_logprobs", logprobs_}, {"top_logprobs", top_}, {"text_offset", offsets_}};
}

std::string sse(const Json& json) { return "data: " + dump_json(json) + "\n\n"; }

std::string usage_event(const ReplyHead& head, const std::string& object_suffix, const Usage& usage) {
  Json event = envelope(head, object_suffix, Json::array());
  event["usage"] = usage_json(usage);
  return sse(event);
}

const std::string kSseDone = "data: [DONE]\n\n";
const std::string kSseKeepAlive = ": keep-alive\n\n";

}  // namespace teapot::server
