// Token ids on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace teapot::cli {

// "1,2,3", or "@file.npy" with integers [n]. kInvalid names what is not an id. Whether the model has them is for the engine to say.
Result<std::vector<int32_t>> parse_token_ids(const std::string& argument);

}  // namespace teapot::cli
