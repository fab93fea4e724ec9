// A checkpoint, read and understood: what a backend loads and what plans are written from.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/generation_config.h"
#include "model/gguf.h"
#include "model/hf_directory.h"
#include "model/model_config.h"
#include "model/tensor_check.h"
#include "model/weight_formats.h"
#include "model/weights.h"
#include "plan/backend.h"
#include "plan/plan.h"

namespace teapot::model {

struct Model {
  std::string path;
  ModelConfig config;
  plan::WeightTable weights;  // points into the source's mapped files
  ModelWeights ids;           // which of them is what
  plan::StateLayout layout;
  GenerationConfig generation;
  std::vector<std::string> notes;            // what a user should be told once, at load
  std::vector<plan::SwitchReport> switches;  // weights, head-weights
  SkippedByReason skipped;
  std::variant<Checkpoint, Gguf> source;  // a Hugging Face directory's tensors, or a GGUF file with its metadata

  // Makes room for MTP in the states (layout): drafts of up to `depth` tokens, at least 1. Before a backend is given the layout.
  // kUnsupported with what the checkpoint has instead, if it has no MTP layer or not one that can draft.
  Status speculate(uint32_t depth);

  const Checkpoint& checkpoint() const {
    const auto* gguf = std::get_if<Gguf>(&source);
    return gguf != nullptr ? gguf->checkpoint : std::get<Checkpoint>(source);
  }
  const Gguf* gguf() const { return std::get_if<Gguf>(&source); }  // nullptr: from a directory
};

// path: a Hugging Face directory or a GGUF file (any part of a split one). Maps the files and reads little but their headers and small
// tensors: quantising is left to whoever copies the weights. Errors name file, tensor, field or key; kUnsupported the quantization method,
// architecture or type that is not there.
Result<Model> load_model(const std::string& path, const WeightOptions& options = {});

// The configuration of a Hugging Face directory or of a config.json alone. Quantised weights are kUnsupported: the message names the
// method.
Result<ModelConfig> load_config(const Source& source);

}  // namespace teapot::model
