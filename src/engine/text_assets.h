// What turns text into ids and back for one model: tokenizer, chat template, what the template is like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"
#include "text/chat_template.h"
#include "text/template_facts.h"
#include "text/tokenizer.h"

namespace teapot::engine {

struct TextAssets {
  text::Tokenizer tokenizer;
  std::optional<text::ChatTemplate> chat_template;  // a base model may have none: chat is refused
  text::TemplateFacts facts;

  // Directory or GGUF. kNotFound, naming what is missing, when there is no tokenizer.
  static Result<TextAssets> load(const std::string& model_path);
  // The same for a model whose files are open already.
  static Result<TextAssets> of(const model::Model& model);

  // Ids below vocab_rows that no token of the tokenizer has (padding rows).
  std::vector<int32_t> ids_without_token(uint32_t vocab_rows) const;
};

// The text of a directory's or a GGUF file's chat template. kNotFound if there is none.
Result<std::string> chat_template_source(const std::string& model_path);

}  // namespace teapot::engine
