// GGUF's tensor types: names and block sizes, those that no weight may have included, so that files which hold them can be listed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/weight.h"

namespace teapot::model {

struct GgufTensorType {
  uint32_t id;
  std::string_view name;
  uint32_t elements;  // of a block; 0: the format has dropped this type
  uint32_t bytes;     // of a block
  std::optional<plan::WeightType> weight;
};

// nullptr: no type has this id.
const GgufTensorType* gguf_tensor_type(uint32_t id);

}  // namespace teapot::model
