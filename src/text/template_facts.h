// What a chat template tells about its model, found by what it contains.
#pragma once

#include <string_view>

#include "text/output_parser.h"

namespace teapot::text {

// "none", "hermes", "qwen3_coder"
std::string_view name_of(ToolFormat format);

struct TemplateFacts {
  ToolFormat tool_format = ToolFormat::kNone;
  bool takes_tools = false;            // speaks of `tools`
  bool has_thinking_switch = false;    // enable_thinking
  bool has_preserve_thinking = false;  // preserve_thinking
  bool opens_reasoning = false;        // writes <think> at all
};

TemplateFacts template_facts(std::string_view source);

// Whether a prompt leaves the model inside its reasoning: it ends, but for white space, in <think>.
bool starts_in_reasoning(std::string_view rendered_prompt);

}  // namespace teapot::text
