// The file against the configuration: every needed tensor there with its shape, no tensor that nobody asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/tensor_roles.h"

namespace teapot::model {

// Tensors that were left out, by reason ("vision").
struct Skipped {
  uint64_t tensors = 0;
  uint64_t bytes = 0;
};
using SkippedByReason = std::map<std::string, Skipped>;

// skip_reason says why a tensor that `expected` lacks may be in the file; an empty string is an error. Errors name the tensor, and both
// shapes if they differ. A gap between the tensors (Checkpoint::gap) is an error, too.
Result<SkippedByReason> check_tensors(const Checkpoint& checkpoint, const ModelTensors& expected,
                                      const std::function<std::string(const Tensor&)>& skip_reason);

}  // namespace teapot::model
