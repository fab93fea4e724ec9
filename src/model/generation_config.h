// How a checkpoint wants to be sampled when a request does not say (spec 6.2): generation_config.json or GGUF's metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/gguf.h"
#include "model/model_config.h"

namespace teapot::model {

struct GenerationConfig {
  std::vector<int32_t> eos_ids;  // the tokenizer may add to them
  std::optional<bool> do_sample;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint32_t> top_k;  // 0: all tokens
};

// generation_config.json of the directory; without one the ids of the configuration, and nothing else. Wrong types and values out of
// range are errors that name file and field.
Result<GenerationConfig> read_hf_generation(const std::string& directory, const ModelConfig& config);

// general.sampling.* and the ids of tokenizer.ggml.*: its eos and eot, and the tokens <|im_end|> and <|endoftext|> wherever they are
// control tokens (the file has room for one eos only).
Result<GenerationConfig> read_gguf_generation(const Gguf& gguf, const ModelConfig& config);

}  // namespace teapot::model
