// What inspect says of a model's tokenizer and chat template.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"

namespace teapot::cli {

// {"tokenizer": null or {...}, "chat_template": null or {...}}. A model without a tokenizer is sound; a broken one is an error.
Result<Json> text_facts(const model::Model& model);

// The same for people.
std::string text_facts_lines(const Json& facts);

}  // namespace teapot::cli
