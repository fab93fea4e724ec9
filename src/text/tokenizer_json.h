// tokenizer.json, the format of Hugging Face's tokenizers, as far as byte-level BPE goes.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace teapot::text {

// What another kind of model, normalizer, pre-tokenizer or decoder would need is kUnsupported, and the message names what was found.
Result<TokenizerParts> parse_tokenizer_json(std::string_view text, std::string_view source);

Result<Tokenizer> load_tokenizer_json(const std::string& path);

}  // namespace teapot::text
