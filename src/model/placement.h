// Where the tensors of one file lie: no two may share bytes.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"

namespace teapot::model {

// Sorts the tensors by their place. Two that share bytes: kInvalid with both names. Otherwise the first gap between `begin`, the start
// of the file's data, and the last tensor as a sentence; empty, if each tensor begins where the one before ends, rounded up to the
// alignment.
Result<std::string> order_by_place(const std::string& path, const std::byte* begin, uint64_t alignment, std::vector<Tensor>& tensors);

// The product of the dimensions; nothing, if it does not fit 64 bits.
std::optional<uint64_t> element_count(const std::vector<uint64_t>& shape);

// "[2, 3]"
std::string shape_text(const std::vector<uint64_t>& shape);

}  // namespace teapot::model
