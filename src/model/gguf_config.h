// The metadata of a GGUF file of this family: qwen35moe, qwen35, qwen3next, qwen3, qwen3moe (spec 5.2, 10.6).
#pragma once

#include "base/error.h"
#include "model/gguf.h"
#include "model/model_config.h"

namespace teapot::model {

// kInvalid names file and key, what was found and what was expected; kUnsupported another architecture or a scaled rope. Also checks
// that the tokenizer's lists have one length, and that there are no more tokens than rows in the embedding.
Result<ModelConfig> read_gguf_config(const Gguf& gguf);

}  // namespace teapot::model
