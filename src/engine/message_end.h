// Where the messages of a chat prompt end: what the next turn's prompt begins with, whatever becomes of the reply.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/json.h"
#include "engine/text_assets.h"

namespace teapot::engine {

// The number of the prompt's ids before its generation prompt. context: what the template saw; prompt, ids: what it made of it. 0: the
// context asks for no generation prompt, or the template changes earlier text when it adds one, or a token reaches across the border.
uint32_t message_end(const TextAssets& assets, const Json& context, std::string_view prompt, std::span<const int32_t> ids);

}  // namespace teapot::engine
