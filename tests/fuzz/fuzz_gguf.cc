// Any bytes as a GGUF file: an error, or metadata that can be looked up and tensors inside the bytes; never a crash.
#include <cstdlib>
#include <span>

#include "model/gguf.h"
#include "model/gguf_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  auto parsed = teapot::model::parse_gguf(file, "fuzz");
  if (!parsed) return 0;
  const std::byte* end = file.data();
  for (const teapot::model::Tensor& tensor : parsed->tensors) {
    if (tensor.data < end || tensor.bytes > static_cast<uint64_t>(file.data() + file.size() - tensor.data)) std::abort();
    end = tensor.data + tensor.bytes;
  }
  teapot::model::Gguf gguf;
  gguf.metadata = std::move(parsed->metadata);
  for (const auto& [key, value] : gguf.metadata) {
    const bool found =
        gguf.unsigned_value(key) || gguf.number(key) || gguf.boolean(key) || gguf.string(key) || gguf.strings(key) || gguf.integers(key);
    // Every value can be had one way, but for arrays of floats and of integers too large.
    if (!found && !std::holds_alternative<teapot::model::GgufArray>(value.value)) std::abort();
  }
  return 0;
}
