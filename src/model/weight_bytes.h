// Where a model's bytes are, and which of them a decoded token reads: the numerator of the memory roof (spec 7).
#pragma once

#include <cstdint>

#include "model/model.h"

namespace teapot::model {

// Matrices in their file's types, small vectors as f32, whole model by part.
struct WeightBytes {
  uint64_t embedding = 0;
  uint64_t head = 0;  // 0 if tied
  uint64_t attention = 0, gdn = 0;
  uint64_t mlp = 0, router = 0, experts = 0, shared_expert = 0;
  uint64_t norms = 0;  // of the layers and the final one
  uint64_t mtp = 0;    // all of it; its embedding and head only if they are its own

  uint64_t total() const;
};

WeightBytes count_weight_bytes(const Model& model);

// Of one decoded token without speculation: everything but the experts that it does not choose, MTP, and all but one row of the embedding
// (the whole of it, if it is the head). State and KV apart.
uint64_t bytes_read_per_token(const Model& model);

}  // namespace teapot::model
