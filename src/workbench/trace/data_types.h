// How large elements are, by the names that profilers give their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teapot::workbench::trace {

// Bits of "DT_BF16", "FLOAT", "INT8", "BFP16", "fp32"; nullopt: a number, "DT_UNDEFINED", nothing that has a size.
std::optional<int> bits_of(std::string_view data_type);

// count elements of that type in bytes; -1 where either is not told.
int64_t elements_bytes(int64_t count, std::string_view data_type);

// What a weight-bound kernel moves: inputs and outputs, by their shapes ("1,2048;2048,512") and types ("DT_BF16;DT_BF16"), quotes around
// them or not. Of a grouped matmul's weights (a third dimension, of experts) only min(experts, rows) are read. nullopt: a shape or a type
// is missing.
std::optional<int64_t> moved_bytes(std::string_view input_shapes, std::string_view input_types, std::string_view output_shapes,
                                   std::string_view output_types, bool grouped);

}  // namespace teapot::workbench::trace
