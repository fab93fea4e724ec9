#include "server/chat_request.h"

#include "engine/message_end.h"
#include "text/messages.h"

namespace teapot::server {
namespace {

// A tool as OpenAI describes it; at: its place in the request.
ApiResult<void> check_tool(const Json& tool, const std::string& at) {
  if (!tool.is_object()) return bad_field(at, fmt::format("'{}' must be an object, found {}", at, kind_of(tool)));
  const auto type = tool.find("type");
  if (type == tool.end() || *type != "function") return bad_field(at + ".type", fmt::format("'{}.type' must be \"function\"", at));
  const auto function = tool.find("function");
  if (function == tool.end() || !function->is_object())
    return bad_field(at + ".function", fmt::format("'{}.function' must be an object", at));
  const auto name = function->find("name");
  if (name == function->end() || !name->is_string() || name->get_ref<const std::string&>().empty())
    return bad_field(at + ".function.name", fmt::format("'{}.function.name' must be a string", at));
  const auto parameters = function->find("parameters");
  if (parameters != function->end() && !parameters->is_null() && !parameters->is_object())
    return bad_field(at + ".function.parameters", fmt::format("'{}.function.parameters' must be an object", at));
  return {};
}

// The tools that the model may call: none with tool_choice "none".
ApiResult<Json> choose_tools(const Fields& fields) {
  TEAPOT_TRY(Json tools, parse_tools(fields));
  const Json* choice = fields.find("tool_choice");
  if (choice == nullptr || *choice == "auto") return tools;
  if (*choice == "none") return Json::array();
  if (*choice == "required" || choice->is_object())
    return bad_field("tool_choice", "'tool_choice' may be \"auto\" or \"none\": forcing a call is not supported yet");
  return bad_field("tool_choice", fmt::format("'tool_choice' must be \"auto\" or \"none\", found {}", dump_json(*choice)));
}

ApiResult<void> parse_logprobs(const Fields& fields, engine::GenerateRequest& generate) {
  TEAPOT_TRY(const auto logprobs, fields.boolean("logprobs"));
  TEAPOT_TRY(const auto top, fields.integer("top_logprobs", 0, 20));
  if (logprobs.value_or(false)) {
    generate.top_logprobs = static_cast<uint32_t>(top.value_or(0));
  } else if (top.value_or(0) > 0) {
    return bad_field("top_logprobs", "'top_logprobs' needs logprobs: true");
  }
  return {};
}

ApiResult<void> refuse_unsupported(const Fields& fields) {
  const Json* format = fields.find("response_format");
  if (format != nullptr && !(format->is_object() && format->value("type", Json()) == "text"))
    return bad_field("response_format", "'response_format' other than {\"type\": \"text\"} is not supported yet");
  TEAPOT_CHECK(fields.unsupported("functions"));
  TEAPOT_CHECK(fields.unsupported("function_call"));
  TEAPOT_CHECK(fields.unsupported("parallel_tool_calls", true));
  TEAPOT_CHECK(fields.unsupported("modalities", Json::array({"text"})));
  TEAPOT_CHECK(fields.unsupported("audio"));
  TEAPOT_CHECK(fields.unsupported("prediction"));
  TEAPOT_CHECK(fields.unsupported("continue_final_message", false));
  for (const char* guided : {"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar"})
    TEAPOT_CHECK(fields.unsupported(guided));
  return {};
}

}  // namespace

ApiResult<Json> parse_tools(const Fields& fields) {
  TEAPOT_TRY(const Json* tools, fields.array("tools"));
  if (tools == nullptr) return Json::array();
  for (size_t i = 0; i < tools->size(); ++i) TEAPOT_CHECK(check_tool((*tools)[i], fmt::format("tools[{}]", i)));
  return *tools;
}

ApiResult<Json> chat_context(const Fields& fields, const Json& tools) {
  TEAPOT_TRY(const Json* messages, fields.array("messages"));
  if (messages == nullptr) return bad_field("messages", "'messages' is missing");
  auto normalized = text::normalize_messages(*messages);
  if (!normalized) return bad_field(normalized.error().field, normalized.error().text());
  TEAPOT_TRY(const Json* kwargs, fields.object("chat_template_kwargs"));
  TEAPOT_TRY(const Json* documents, fields.array("documents"));
  TEAPOT_TRY(const auto add_generation_prompt, fields.boolean("add_generation_prompt"));

  return text::build_template_context(*std::move(normalized), tools, documents == nullptr ? Json(nullptr) : *documents,
                                      kwargs == nullptr ? Json::object() : *kwargs, add_generation_prompt.value_or(true));
}

ApiResult<std::string> render_chat(const engine::TextAssets& assets, const Json& context) {
  if (!assets.chat_template)
    return std::unexpected(ApiError{400, "this model has no chat template: use /v1/completions", "messages", "no_chat_template", 0});
  auto prompt = assets.chat_template->render(context);
  if (!prompt)
    return bad_field("messages", fmt::format("the chat template refuses this conversation: {}", text::as_error(prompt.error()).message));
  return *std::move(prompt);
}

ApiResult<ChatPrompt> chat_prompt(const engine::TextAssets& assets, const Json& context) {
  ChatPrompt prompt;
  TEAPOT_TRY(prompt.text, render_chat(assets, context));
  auto ids = assets.tokenizer.encode(prompt.text, true);
  if (!ids) return bad_field("messages", ids.error().message);
  prompt.ids = *std::move(ids);
  prompt.message_end = engine::message_end(assets, context, prompt.text, prompt.ids);
  return prompt;
}

ApiResult<ChatRequest> parse_chat(const Json& body, const RequestDefaults& defaults) {
  const Fields fields(body);
  ChatRequest request;
  TEAPOT_TRY(request.common, parse_common(body, defaults));
  TEAPOT_CHECK(refuse_unsupported(fields));
  TEAPOT_CHECK(parse_logprobs(fields, request.common.generate));
  TEAPOT_TRY(request.tools, choose_tools(fields));

  TEAPOT_TRY(request.context, chat_context(fields, request.tools));
  return request;
}

}  // namespace teapot::server
