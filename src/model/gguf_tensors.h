// Which tensors a GGUF file must hold for a configuration, and what they are called in this one (spec 5.3, 10.6).
#pragma once

#include <string>

#include "model/checkpoint.h"
#include "model/model_config.h"
#include "model/tensor_roles.h"

namespace teapot::model {

// Variants (fused gate_up experts, ssm_in and ssm_ba of Qwen3-Next, ssm_dt without .bias, a missing output.weight) are found in the
// tensors' names. An MTP block without nextn.eh_proj is no MTP (spec 5.3): its tensors are skipped. Nothing is read.
ModelTensors gguf_tensors(const ModelConfig& config, const Checkpoint& checkpoint);

// Why a tensor that no role asks for may be there; empty: it may not.
std::string gguf_skip_reason(const ModelConfig& config, const Checkpoint& checkpoint, const Tensor& tensor);

}  // namespace teapot::model
