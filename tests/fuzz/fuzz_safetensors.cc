// Any bytes as a safetensors file: an error or tensors inside the bytes, never a crash.
#include <cstdlib>
#include <span>

#include "model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto parsed = teapot::model::parse_safetensors(file, "fuzz");
  if (!parsed) return 0;
  const std::byte* end = file.data();
  for (const teapot::model::Tensor& tensor : parsed->tensors) {
    if (tensor.data < end || tensor.bytes > static_cast<uint64_t>(file.data() + file.size() - tensor.data)) std::abort();
    end = tensor.data + tensor.bytes;
  }
  return 0;
}
