// One GGUF file's bytes, read into metadata and tensors: every length, count and offset is checked against the bytes that are there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/gguf.h"

namespace teapot::model {

struct GgufPart {
  GgufMetadata metadata;
  std::vector<Tensor> tensors;  // by offset
  std::string gap;              // as in Checkpoint
};

// path is only for messages. kInvalid names the file, and the key or tensor where there is one. Tensor types that no weight has are
// listed without `type`, as are tensors whose rows are no whole blocks; types that the format does not know, or has dropped, are an error.
// Views in the result point into `file`.
Result<GgufPart> parse_gguf(std::span<const std::byte> file, const std::string& path);

// Bytes of a value of fixed size; 0 for strings and arrays.
size_t gguf_type_bytes(GgufType type);

// A value of a fixed-size type at `at`.
GgufValue gguf_fixed_value(GgufType type, const std::byte* at);

}  // namespace teapot::model
