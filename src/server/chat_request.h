// POST /v1/chat/completions: from the JSON body to what is rendered and generated.
#pragma once

#include <string>
#include <vector>

#include "engine/text_assets.h"
#include "server/common_request.h"

namespace teapot::server {

struct ChatRequest {
  CommonRequest common;
  Json context;  // what the chat template sees
  Json tools;    // OpenAI tool objects; empty: none, or tool_choice none
};

// The `tools` field, checked; empty when absent.
ApiResult<Json> parse_tools(const Fields& fields);
// What the template sees: messages, documents, chat_template_kwargs and add_generation_prompt of the request, and these tools.
ApiResult<Json> chat_context(const Fields& fields, const Json& tools);
// The prompt's text; a conversation that the template refuses is a 400 with the template's message.
ApiResult<std::string> render_chat(const engine::TextAssets& assets, const Json& context);

struct ChatPrompt {
  std::string text;
  std::vector<int32_t> ids;
  uint32_t message_end = 0;  // ids before the generation prompt: what the next turn's prompt begins with; 0: not known
};
ApiResult<ChatPrompt> chat_prompt(const engine::TextAssets& assets, const Json& context);

ApiResult<ChatRequest> parse_chat(const Json& body, const RequestDefaults& defaults);

}  // namespace teapot::server
