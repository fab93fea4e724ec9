// Which tensors a Hugging Face checkpoint must hold for a configuration, and what they are called in this one (spec 2).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/model_config.h"
#include "model/tensor_check.h"
#include "model/tensor_roles.h"

namespace teapot::model {

// Prefix, expert layouts, packed projections and MTP are found in the tensors' names, never in the architecture's (spec 10.2); their
// shapes follow from the configuration. That the tensors are there with these shapes is for check_tensors to say. Nothing is read.
// kUnsupported: an export of MLX, whose values follow other conventions.
Result<ModelTensors> hf_tensors(const ModelConfig& config, const Checkpoint& checkpoint);

// Why a tensor that no role asks for may be there; empty: it may not.
std::string hf_skip_reason(const ModelConfig& config, const Tensor& tensor);

}  // namespace teapot::model
