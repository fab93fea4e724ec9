// From tensors by role to a weight table: rows regrouped into the order that plans want, conventions of the file resolved (spec 2, 5.3).
#pragma once

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/model_config.h"
#include "model/tensor_roles.h"
#include "model/weights.h"
#include "plan/plan.h"

namespace teapot::model {

struct BoundWeights {
  plan::WeightTable table;  // points into the checkpoint's mapped files
  ModelWeights weights;
  plan::StateLayout layout;
};

// tensors have passed check_tensors. Queries and gates are de-interleaved, packed GDN projections flattened, experts stacked, all by
// naming runs of rows; norms get their +1, the decay its sign and exponential, the convolution is transposed. Errors name tensor and
// type: one that no weight may have, or different ones within one matrix.
Result<BoundWeights> bind(const ModelConfig& config, const ModelTensors& tensors, const Checkpoint& checkpoint);

}  // namespace teapot::model
