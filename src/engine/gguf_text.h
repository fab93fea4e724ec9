// What a GGUF file's metadata say about text, in the form that the text floor reads: the two floors do not know each other.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "model/gguf.h"
#include "text/tokenizer_gguf.h"

namespace teapot::engine {

// source: the file, for messages. kNotFound when the file has no tokenizer at all; an error that names the key when it has half of one.
Result<text::GgufTokenizer> gguf_tokenizer(const model::Gguf& gguf, const std::string& source);

// tokenizer.chat_template; nothing if there is none.
Result<std::optional<std::string>> gguf_chat_template(const model::Gguf& gguf);

}  // namespace teapot::engine
