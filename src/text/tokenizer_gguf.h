// The tokenizer in a GGUF file's metadata (tokenizer.ggml.*).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace teapot::text {

// The metadata as they stand in the file, under the names of their keys.
struct GgufTokenizer {
  std::string source;               // the file, for errors
  std::string model;                // "gpt2": byte-level BPE
  std::string pre;                  // "qwen35" or "qwen2": the regex
  std::vector<std::string> tokens;  // by id, in the byte-level alphabet; added tokens as they are
  std::vector<int32_t> token_type;  // by id: 1 normal, 3 control, 4 user-defined, 5 unused
  std::vector<std::string> merges;  // "left right", by rank
  std::optional<int64_t> eos_token_id;
};

// Control tokens become special added tokens, user-defined ones added tokens; unused ids have no token.
Result<Tokenizer> load_tokenizer_gguf(const GgufTokenizer& metadata);

}  // namespace teapot::text
