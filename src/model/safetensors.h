// One safetensors file: 8 bytes length, a JSON header of that length, the data.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"

namespace teapot::model {

struct SafetensorsFile {
  std::vector<Tensor> tensors;  // by offset; they point into the file's bytes
  std::string gap;              // as in Checkpoint
};

// path is only for messages. kInvalid names the file, and the tensor where there is one. Types that no weight has are listed without
// `type`; types that the format does not know are an error.
Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> file, const std::string& path);

}  // namespace teapot::model
