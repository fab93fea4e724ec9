// How many tokens a prompt has, as `teapot serve` counts them: through the chat template and the tokenizer.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/json.h"
#include "engine/text_assets.h"

namespace teapot::workbench {

// body: of a request, with messages or a prompt of text. kInvalid: the server would refuse it, with its words; kUnsupported: messages,
// but the model has no chat template.
Result<uint32_t> count_prompt_tokens(const engine::TextAssets& text, const Json& body);

}  // namespace teapot::workbench
