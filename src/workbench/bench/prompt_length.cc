#include "workbench/bench/prompt_length.h"

#include "server/chat_request.h"

namespace teapot::workbench {
namespace {

server::ApiResult<std::string> prompt_text(const engine::TextAssets& text, const Json& body) {
  const server::Fields fields(body);
  TEAPOT_TRY(std::optional<std::string> prompt, fields.string("prompt"));
  if (prompt) return *std::move(prompt);
  TEAPOT_TRY(const Json tools, server::parse_tools(fields));
  TEAPOT_TRY(const Json context, server::chat_context(fields, tools));
  return server::render_chat(text, context);
}

}  // namespace

Result<uint32_t> count_prompt_tokens(const engine::TextAssets& text, const Json& body) {
  if (body.contains("messages") && !text.chat_template) {
    return fail(ErrorKind::kUnsupported, "the tokenizer's directory has no chat template: prompts of chats cannot be counted");
  }
  const auto prompt = prompt_text(text, body);
  if (!prompt) return fail(ErrorKind::kInvalid, "{}", prompt.error().message);
  TEAPOT_TRY(const std::vector<int32_t> ids, text.tokenizer.encode(*prompt, /*parse_added=*/true));
  return static_cast<uint32_t>(ids.size());
}

}  // namespace teapot::workbench
