// Block formats to f32, value by value: the reference that every packed kernel is compared with (spec 5.5).
#pragma once

#include <cstddef>

#include "plan/weight.h"

namespace teapot::plan {

// out[0..cols) = the weights of one row. `blocks` holds row_bytes(type, cols) bytes, at any alignment; cols is a multiple of the type's
// block elements. Products of scales are rounded to f32 in the order of the format's definition: (d * scale) * q - (dmin * min).
// Scales that are infinite or NaN give infinite or NaN weights; nothing is refused here.
void dequantize_row(WeightType type, const std::byte* blocks, size_t cols, float* out);

}  // namespace teapot::plan
