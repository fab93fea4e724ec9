// Whole small checkpoints written by the tests themselves: every tensor that a model asks for, under whatever names and layouts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "model/tensor_roles.h"
#include "model_files.h"

namespace teapot::testing {

// Tensors in f32, each with values of its own; names and shapes may be changed before they are written.
class TinyTensors {
 public:
  explicit TinyTensors(const std::vector<model::TensorSpec>& specs) {
    for (const model::TensorSpec& spec : specs) add(spec);
  }

  void add(const model::TensorSpec& spec) {
    uint64_t count = 1;
    for (const uint64_t dim : spec.shape) count *= dim;
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(++last_) / 1024;
    tensors_[spec.name] = {spec.shape, std::move(values)};
  }
  void remove(const std::string& name) { tensors_.erase(name); }
  void rename(const std::string& from, const std::string& to) {
    tensors_[to] = tensors_.at(from);
    tensors_.erase(from);
  }
  // Group g of a regrouped tensor has `rows` rows of each slice in turn, from row first_row + g*rows of its tensor.
  struct Slice {
    std::string tensor;
    uint64_t first_row, rows;
  };
  // Replaces the slices' tensors by one with the rows of all, group by group.
  void regroup(const std::string& to, const std::vector<Slice>& slices, uint64_t groups, const std::vector<uint64_t>& shape) {
    std::vector<float> values;
    const uint64_t cols = shape.back();
    for (uint64_t group = 0; group < groups; ++group) {
      for (const Slice& slice : slices) {
        const float* begin = tensors_.at(slice.tensor).values.data() + (slice.first_row + group * slice.rows) * cols;
        values.insert(values.end(), begin, begin + slice.rows * cols);
      }
    }
    for (const Slice& slice : slices) tensors_.erase(slice.tensor);
    tensors_[to] = {shape, std::move(values)};
  }
  // In bf16 instead; values that bf16 does not have are cut.
  void narrow(const std::string& name) { tensors_.at(name).bf16 = true; }

  std::string safetensors() const {
    Json header = Json::object();
    std::string data;
    for (const auto& [name, tensor] : tensors_) {
      const size_t begin = data.size();
      data += tensor.bytes();
      header[name] = {{"dtype", tensor.bf16 ? "BF16" : "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    return safetensors_file(header.dump(), data);
  }

  void write(GgufFile& file) const {
    for (const auto& [name, tensor] : tensors_) {
      const std::vector<uint64_t> dims(tensor.shape.rbegin(), tensor.shape.rend());
      file.tensor(name, dims, tensor.bf16 ? 30 : 0, tensor.bytes());
    }
  }

 private:
  struct TinyTensor {
    std::vector<uint64_t> shape;
    std::vector<float> values;
    bool bf16 = false;

    std::string bytes() const {
      std::string text;
      for (const float value : values) text += bf16 ? raw(value).substr(2) : raw(value);
      return text;
    }
  };

  std::map<std::string, TinyTensor> tensors_;
  uint64_t last_ = 0;
};

}  // namespace teapot::testing
