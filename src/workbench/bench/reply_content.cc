#include "workbench/bench/reply_content.h"

#include <limits>

namespace teapot::workbench {
namespace {

constexpr size_t kShownBytes = 200;  // of what a server sent, in an error

std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShownBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text.size() > kShownBytes ? out + "..." : out;
}

Fault nonsense(std::string_view found, std::string_view expected) {
  return {Outcome::kNonsense, fmt::format("found {}; expected {}", shown(found), expected)};
}

// A field that is there and not null.
const Json* find(const Json& object, std::string_view name) {
  const auto field = object.find(name);
  return field == object.end() || field->is_null() ? nullptr : &*field;
}

std::optional<Fault> read_count(const Json& object, std::string_view name, std::optional<uint32_t>& count) {
  const Json* field = find(object, name);
  if (field == nullptr) return std::nullopt;
  if (!field->is_number_integer() || *field < 0 || *field > std::numeric_limits<uint32_t>::max())
    return nonsense(fmt::format("\"{}\": {}", name, dump_json(*field)), "a number of tokens");
  count = field->get<uint32_t>();
  return std::nullopt;
}

// An error object as servers send it, in OpenAI's form or as plain text.
std::string error_text(const Json& error) {
  if (error.is_object()) {
    const Json* message = find(error, "message");
    if (message != nullptr && message->is_string()) return shown(message->get_ref<const std::string&>());
  }
  return error.is_string() ? shown(error.get_ref<const std::string&>()) : shown(dump_json(error));
}

}  // namespace

std::optional<Fault> ReplyContent::add_event(std::string_view data, int64_t at_ns) {
  if (data == "[DONE]") {
    done_marker_ = true;
    progress_ns_ = at_ns;
    return std::nullopt;
  }
  const auto event = parse_json(data, "event");
  if (!event) return nonsense(data, "an event with JSON");
  return add(*event, "delta", at_ns, true);
}

std::optional<Fault> ReplyContent::add_whole(std::string_view body, int64_t at_ns) {
  const auto reply = parse_json(body, "reply");
  if (!reply) return nonsense(body, "a JSON reply");
  if (auto fault = add(*reply, "message", at_ns, false)) return fault;
  if (!finished_) return nonsense(body, "choices with a finish_reason");
  return std::nullopt;
}

std::optional<Fault> ReplyContent::add(const Json& reply, std::string_view text_field, int64_t at_ns, bool chunks) {
  if (!reply.is_object()) return nonsense(dump_json(reply), "an object");
  if (const Json* error = find(reply, "error")) return Fault{Outcome::kFailed, "the server says: " + error_text(*error)};
  const uint32_t told_before = record_.completion_tokens;
  if (const Json* usage = find(reply, "usage")) {
    if (auto fault = add_usage(*usage)) return fault;
  }
  if (auto fault = add_timings(reply)) return fault;
  if (record_.completion_tokens > told_before) progress_ns_ = at_ns;  // a token may have no text yet
  const Json* choices = find(reply, "choices");
  if (choices == nullptr) return std::nullopt;
  if (!choices->is_array()) return nonsense(dump_json(reply), "\"choices\" to be an array");
  bool any_text = false;
  bool any_finish = false;
  for (const Json& choice : *choices) {
    if (!choice.is_object()) return nonsense(dump_json(reply), "each choice to be an object");
    const Json* message = find(choice, text_field);
    if (message != nullptr && !message->is_object()) return nonsense(dump_json(choice), fmt::format("\"{}\" to be an object", text_field));
    // Completions have their text in the choice itself.
    if (auto fault = add_text(message == nullptr ? choice : *message, any_text)) return fault;
    const Json* reason = find(choice, "finish_reason");
    if (reason == nullptr) continue;
    if (!reason->is_string()) return nonsense(dump_json(choice), "\"finish_reason\" to be a string");
    record_.finish_reason = reason->get<std::string>();
    any_finish = true;
  }
  if (any_text || (any_finish && !finished_)) progress_ns_ = at_ns;
  finished_ = finished_ || any_finish;
  if (any_text && chunks) {
    if (record_.first_ns == 0) record_.first_ns = at_ns;
    Chunk chunk{at_ns, 0};
    if (find(reply, "usage") != nullptr) {
      const uint32_t now = record_.completion_tokens;
      chunk.tokens = now > tokens_before_ ? now - tokens_before_ : 0;
      tokens_before_ = now;
      ++chunks_told_;
    }
    record_.chunks.push_back(chunk);
  }
  if (any_finish || (any_text && !finished_)) record_.last_ns = at_ns;
  return std::nullopt;
}

std::optional<Fault> ReplyContent::add_text(const Json& message, bool& any) {
  for (const std::string_view name : {"content", "reasoning_content", "reasoning", "text"}) {
    const Json* field = find(message, name);
    if (field == nullptr) continue;
    if (!field->is_string()) return nonsense(dump_json(message), fmt::format("\"{}\" to be a string", name));
    const auto& text = field->get_ref<const std::string&>();
    if (text.empty()) continue;
    any = true;
    if (!keep_text_) continue;
    if (name == "content" || name == "text") {
      record_.content += text;
    } else if (name == "reasoning_content" || find(message, "reasoning_content") == nullptr) {  // some servers send both, the same
      record_.reasoning += text;
    }
  }
  if (const Json* calls = find(message, "tool_calls"); calls != nullptr && !calls->empty()) any = true;
  return std::nullopt;
}

std::optional<Fault> ReplyContent::add_usage(const Json& usage) {
  if (!usage.is_object()) return nonsense(dump_json(usage), "\"usage\" to be an object");
  std::optional<uint32_t> prompt;
  std::optional<uint32_t> completion;
  if (auto fault = read_count(usage, "prompt_tokens", prompt)) return fault;
  if (auto fault = read_count(usage, "completion_tokens", completion)) return fault;
  if (prompt) record_.prompt_tokens = *prompt;
  if (completion) record_.completion_tokens = *completion;
  record_.has_usage = record_.has_usage || (prompt && completion);
  if (const Json* details = find(usage, "prompt_tokens_details"); details != nullptr && details->is_object()) {
    if (auto fault = read_count(*details, "cached_tokens", record_.cached_tokens)) return fault;
  }
  return add_predictions(usage);
}

// OpenAI's: {"completion_tokens_details": {"accepted_prediction_tokens", "rejected_prediction_tokens"}}.
std::optional<Fault> ReplyContent::add_predictions(const Json& usage) {
  const Json* details = find(usage, "completion_tokens_details");
  if (details == nullptr || !details->is_object() || timings_tell_drafts_) return std::nullopt;
  std::optional<uint32_t> accepted;
  std::optional<uint32_t> rejected;
  if (auto fault = read_count(*details, "accepted_prediction_tokens", accepted)) return fault;
  if (auto fault = read_count(*details, "rejected_prediction_tokens", rejected)) return fault;
  if (!accepted || !rejected) return std::nullopt;
  record_.accepted = accepted;
  record_.drafted = *accepted + *rejected;
  return std::nullopt;
}

// Teapot's own: {"timings": {"speculation": {"drafted", "accepted"}}}; llama.cpp's: {"timings": {"draft_n", "draft_n_accepted"}}.
std::optional<Fault> ReplyContent::add_timings(const Json& reply) {
  const Json* timings = find(reply, "timings");
  if (timings == nullptr || !timings->is_object()) return std::nullopt;
  const Json* speculation = find(*timings, "speculation");
  const bool own = speculation != nullptr && speculation->is_object();
  const Json& from = own ? *speculation : *timings;
  std::optional<uint32_t> drafted;
  std::optional<uint32_t> accepted;
  if (auto fault = read_count(from, own ? "drafted" : "draft_n", drafted)) return fault;
  if (auto fault = read_count(from, own ? "accepted" : "draft_n_accepted", accepted)) return fault;
  if (!drafted || !accepted) return std::nullopt;
  record_.drafted = drafted;
  record_.accepted = accepted;
  timings_tell_drafts_ = true;
  return std::nullopt;
}

std::string server_error_text(std::string_view body) {
  const auto json = parse_json(body, "error body");
  if (!json || !json->is_object()) return shown(body);
  for (const std::string_view name : {"error", "message", "detail"}) {
    if (const Json* error = find(*json, name)) return error_text(*error);
  }
  return shown(body);
}

}  // namespace teapot::workbench
