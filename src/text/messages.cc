#include "text/messages.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace teapot::text {
namespace {

using Checked = std::expected<void, FieldError>;

template <class... Args>
std::unexpected<FieldError> wrong(std::string field, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(FieldError{std::move(field), fmt::format(format, std::forward<Args>(args)...)});
}

Json without_nulls(const Json& object) {
  Json result = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (!value.is_null()) result.emplace(key, Json(value));
  }
  return result;
}

std::expected<std::string, FieldError> text_of_part(const Json& part, const std::string& path) {
  if (!part.is_object()) return wrong(path, "{} where an object with a type is expected", part.type_name());
  const Json type = part.value("type", Json());
  if (!type.is_string()) return wrong(path + ".type", "a string is expected, such as \"text\"");
  if (type != "text") {
    return wrong(path + ".type", "a part of type '{}' is not supported: only text is", type.get_ref<const std::string&>());
  }
  const Json text = part.value("text", Json());
  if (!text.is_string()) return wrong(path + ".text", "a string is expected");
  return text.get<std::string>();
}

// The message's content as one string. It is there and not null.
std::expected<std::string, FieldError> joined_content(const Json& content, const std::string& path) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return wrong(path, "{} where a string or an array of parts is expected", content.type_name());
  if (content.empty()) return wrong(path, "the array of parts is empty");
  std::string joined;
  for (size_t i = 0; i < content.size(); ++i) {
    TEAPOT_TRY(const std::string text, text_of_part(content[i], fmt::format("{}[{}]", path, i)));
    joined += text;
  }
  return joined;
}

std::expected<Json, FieldError> arguments_object(const Json& given, const std::string& path) {
  if (given.is_null()) return Json::object();
  if (given.is_object()) return given;
  if (!given.is_string()) return wrong(path, "{} where an object, or a string that holds one, is expected", given.type_name());
  Result<Json> parsed = parse_json(given.get_ref<const std::string&>(), "the string");
  if (!parsed) return wrong(path, "a JSON object is expected; {}", parsed.error().message);
  if (!parsed->is_object()) return wrong(path, "the string holds JSON of type {} where an object is expected", parsed->type_name());
  return *std::move(parsed);
}

std::expected<Json, FieldError> normalize_call(const Json& given, const std::string& path) {
  if (!given.is_object()) return wrong(path, "{} where an object is expected", given.type_name());
  Json call = without_nulls(given);
  if (const auto type = call.find("type"); type != call.end() && *type != "function") {
    return wrong(path + ".type", "{} is not supported: only \"function\" is", dump_json(*type));
  }
  const auto function = call.find("function");
  if (function == call.end() || !function->is_object()) return wrong(path + ".function", "an object is expected");
  *function = without_nulls(*function);
  const auto name = function->find("name");
  if (name == function->end() || !name->is_string()) return wrong(path + ".function.name", "a string is expected");
  TEAPOT_TRY(Json arguments, arguments_object(function->value("arguments", Json()), path + ".function.arguments"));
  (*function)["arguments"] = std::move(arguments);
  return call;
}

Checked normalize_calls(Json& message, const std::string& path) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end()) return {};
  if (!calls->is_array()) return wrong(path + ".tool_calls", "{} where an array is expected", calls->type_name());
  for (size_t i = 0; i < calls->size(); ++i) {
    TEAPOT_TRY((*calls)[i], normalize_call((*calls)[i], fmt::format("{}.tool_calls[{}]", path, i)));
  }
  return {};
}

Checked normalize_reasoning(Json& message, const std::string& path) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    const auto given = message.find(name);
    if (given == message.end()) continue;
    if (!given->is_string()) return wrong(fmt::format("{}.{}", path, name), "{} where a string is expected", given->type_name());
    if (!message.contains("reasoning_content")) message["reasoning_content"] = std::string(given->get_ref<const std::string&>());
    if (std::string_view(name) != "reasoning_content") message.erase(name);
  }
  return {};
}

Checked normalize_assistant(Json& message, bool content_is_null, const std::string& path) {
  if (message.contains("function_call")) return wrong(path + ".function_call", "is not supported: use tool_calls");
  TEAPOT_CHECK(normalize_reasoning(message, path));
  TEAPOT_CHECK(normalize_calls(message, path));
  const bool has_calls = message.contains("tool_calls") && !message["tool_calls"].empty();
  if (!message.contains("content") && (content_is_null || has_calls || message.contains("reasoning_content"))) message["content"] = "";
  return {};
}

std::expected<Json, FieldError> normalize_message(const Json& given, const std::string& path) {
  if (!given.is_object()) return wrong(path, "{} where an object is expected", given.type_name());
  const auto role = given.find("role");
  if (role == given.end() || !role->is_string()) return wrong(path + ".role", "a string is expected");
  const std::string& name = role->get_ref<const std::string&>();
  Json message = without_nulls(given);
  if (name == "developer") {
    message["role"] = "system";
  } else if (name == "assistant") {
    TEAPOT_CHECK(normalize_assistant(message, given.contains("content"), path));
  } else if (name != "system" && name != "user" && name != "tool") {
    return wrong(path + ".role", "'{}' is none of system, developer, user, assistant, tool", name);
  }
  const auto content = message.find("content");
  if (content == message.end()) return wrong(path + ".content", "is missing in a message of role {}", name);
  TEAPOT_TRY(*content, joined_content(*content, path + ".content"));
  return message;
}

void append_system_text(Json& system, const Json& more) {
  auto& text = system["content"].get_ref<std::string&>();
  const auto& added = more["content"].get_ref<const std::string&>();
  if (!text.empty() && !added.empty()) text += "\n\n";
  text += added;
}

}  // namespace

std::expected<Json, FieldError> normalize_messages(const Json& messages) {
  if (!messages.is_array()) return wrong("messages", "{} where an array is expected", messages.type_name());
  if (messages.empty()) return wrong("messages", "the array is empty");
  Json result = Json::array();
  bool leading = true;  // only system messages so far
  for (size_t i = 0; i < messages.size(); ++i) {
    TEAPOT_TRY(Json message, normalize_message(messages[i], fmt::format("messages[{}]", i)));
    leading = leading && message["role"] == "system";
    if (leading && !result.empty()) {
      append_system_text(result[0], message);
    } else {
      result.push_back(std::move(message));
    }
  }
  return result;
}

Json build_template_context(Json messages, Json tools, Json documents, const Json& chat_template_kwargs, bool add_generation_prompt) {
  Json context = Json::object();
  context["messages"] = std::move(messages);
  context["tools"] = tools.empty() ? Json() : std::move(tools);
  context["documents"] = documents.empty() ? Json() : std::move(documents);
  context["add_generation_prompt"] = add_generation_prompt;
  for (const auto& [name, value] : chat_template_kwargs.items()) context[name] = value;
  return context;
}

}  // namespace teapot::text
