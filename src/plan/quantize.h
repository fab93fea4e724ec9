// f32 to block formats: what `--weights` makes of a checkpoint in f32, f16 or bf16. The inverse of plan/dequantize.h, as near as the format
// allows: scales are searched for the least squared error, block by block, without a model of what the weights are for.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "plan/weight.h"

namespace teapot::plan {

// Q8_0, Q4_0, Q4_K, Q6_K.
bool can_quantize(WeightType type);

// out: row_bytes(type, row.size()) bytes; row.size() is a multiple of the type's block elements. The bytes depend on nothing but the row.
// kInvalid names the first column that holds no number, or the first block whose scale is beyond f16.
Status quantize_row(WeightType type, std::span<const float> row, std::byte* out);

}  // namespace teapot::plan
