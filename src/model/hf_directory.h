// What a path on the command line is, and what a Hugging Face directory says about quantised weights.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace teapot::model {

enum class SourceKind { kHuggingFace, kGguf, kConfigOnly };

struct Source {
  SourceKind kind;
  std::string path;    // the directory, the .gguf file; for kConfigOnly the directory too, or whatever holds the file
  std::string config;  // path of config.json; empty for GGUF
};

// A directory with config.json and safetensors weights; a GGUF file; a config.json, or a directory that has one and no weights. What
// is none of these is an error that says what was found and which path would do.
Result<Source> find_source(const std::string& path);

struct Quantization {
  std::string method;     // "fp8", "awq", "gptq", "compressed-tensors", "modelopt", "mlx", "bitsandbytes", ..., as the file names it
  std::string algorithm;  // what the method does: "e4m3", "NVFP4", "4-bit"; "unknown" if the block does not say
  std::string where;      // file and field
};

// Weights that are not plain F32, F16 or BF16, by config.json's own word (at its root or in text_config) or by hf_quant_config.json in the
// directory (spec 10.5). Nothing, if neither speaks of it; kInvalid if a block is no object.
Result<std::optional<Quantization>> find_quantization(const Json& config, const std::string& directory);

}  // namespace teapot::model
