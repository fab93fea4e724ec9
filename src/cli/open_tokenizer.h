// Where a command's MODEL argument becomes a tokenizer.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace teapot::cli {

// A directory with tokenizer files, a tokenizer.json, or a GGUF file; the model's weights are not looked at. Nothing there, or a
// GGUF file without a tokenizer: kNotFound.
Result<text::Tokenizer> open_tokenizer(const std::string& model_or_dir);

}  // namespace teapot::cli
