// A conversation as the ids that a model reads: through its chat template and its tokenizer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "engine/text_assets.h"

namespace teapot::cli {

struct ChatPrompt {
  std::vector<int32_t> ids;
  bool starts_in_reasoning;  // the prompt itself opened <think>
  uint32_t message_end;      // engine/message_end.h
};

// messages: OpenAI message objects. kwargs: variables for the template (enable_thinking ...). kUnsupported: the model has no template;
// kInvalid, with the template's message: it refuses the conversation.
Result<ChatPrompt> chat_prompt(const engine::TextAssets& text, const Json& messages, const Json& kwargs);

}  // namespace teapot::cli
