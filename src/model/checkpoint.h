// A checkpoint's tensors, whatever file format they came from: names, types, shapes, and bytes in mapped files.
//
// Readers check every length and offset against the file before they hand a tensor out: `data` has `bytes` readable bytes, and
// `bytes` is what type and shape ask for. What a tensor means is not their business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "plan/weight.h"

namespace teapot::model {

struct Tensor {
  std::string name;
  // The element type; nothing, if it is one that no weight may have (I64, U32, IQ2_XXS ...): the tensor can be listed and skipped, not
  // used.
  std::optional<plan::WeightType> type;
  std::string type_name;            // as the file spells it, for messages and listings
  std::vector<uint64_t> shape;      // slowest first, as torch prints it; GGUF's ne order reversed
  const std::byte* data = nullptr;  // at any alignment
  uint64_t bytes = 0;
  uint32_t file = 0;  // index into Checkpoint::files
};

struct Checkpoint {
  std::vector<MappedFile> files;
  std::vector<Tensor> tensors;                         // file by file, in each by offset
  std::map<std::string, size_t, std::less<>> by_name;  // index into tensors
  // Says which bytes between tensors belong to none; empty if there are none. Both formats forbid such gaps, but a missing tensor, whose
  // name makes the better message, leaves one too: so whoever misses no tensor refuses the gap.
  std::string gap;

  const Tensor* find(std::string_view name) const {
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : &tensors[it->second];
  }
  const std::string& path_of(const Tensor& tensor) const { return files[tensor.file].path(); }

  // Takes a further file, whose bytes the tensors point into. A name that is there already: kInvalid with both files.
  Status add(MappedFile file, std::vector<Tensor> file_tensors);
};

// model.safetensors, or the shards that model.safetensors.index.json names (only files inside the directory).
Result<Checkpoint> open_safetensors(const std::string& directory);

}  // namespace teapot::model
