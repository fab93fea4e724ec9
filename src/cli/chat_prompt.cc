#include "cli/chat_prompt.h"

#include "engine/message_end.h"
#include "text/messages.h"

namespace teapot::cli {

Result<ChatPrompt> chat_prompt(const engine::TextAssets& text, const Json& messages, const Json& kwargs) {
  if (!text.chat_template) return fail(ErrorKind::kUnsupported, "the model has no chat template");
  const auto normalized = text::normalize_messages(messages);
  if (!normalized) return fail(ErrorKind::kInvalid, "{}: {}", normalized.error().field, normalized.error().message);
  const Json context = text::build_template_context(*normalized, Json(nullptr), Json(nullptr), kwargs, /*add_generation_prompt=*/true);
  const auto prompt = text.chat_template->render(context);
  if (!prompt) return fail(ErrorKind::kInvalid, "the chat template refuses this conversation: {}", prompt.error().message);
  TEAPOT_TRY(std::vector<int32_t> ids, text.tokenizer.encode(*prompt, /*parse_added=*/true));
  const uint32_t message_end = engine::message_end(text, context, *prompt, ids);
  return ChatPrompt{.ids = std::move(ids), .starts_in_reasoning = text::starts_in_reasoning(*prompt), .message_end = message_end};
}

}  // namespace teapot::cli
