// Where a model directory keeps its chat template.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"

namespace teapot::text {

// chat_template.jinja if the directory has it, else chat_template of tokenizer_config.json. kNotFound if there is neither.
Result<std::string> load_chat_template(const std::string& directory);

// The "chat_template" of a tokenizer configuration: a text, or a list of {"name", "template"} of which "default" is meant.
// source names the configuration in errors.
Result<std::string> chat_template_of(const Json& tokenizer_config, std::string_view source);

}  // namespace teapot::text
