// Fills a weight table from a checkpoint's tensors: matrices as runs of the file's rows, small vectors in f32.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/tensor_roles.h"
#include "plan/weight.h"

namespace teapot::model {

// A tensor seen as rows of its last dimension, whatever the dimensions before.
struct Rows {
  const Tensor* tensor;
  plan::WeightType type;
  uint32_t cols;

  // count rows from row `first`.
  plan::RowRun run(uint64_t first, uint64_t count) const {
    return {tensor->data + first * plan::row_bytes(type, cols), static_cast<uint32_t>(count)};
  }
};

class WeightBuilder {
 public:
  // The tensors that specs name must be there with these shapes (check_tensors). The checkpoint's bytes are not copied: it must outlive
  // the table.
  explicit WeightBuilder(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  // kUnsupported names tensor and type, if no weight may have it; kInvalid if a row is not a whole number of blocks.
  Result<Rows> rows(const TensorSpec& spec) const;

  // All of a tensor.
  Result<plan::MatrixId> matrix(const TensorSpec& spec);

  // Rows picked from tensors of one type and width: runs in the order of the matrix's rows. parts name the tensors, for the check that
  // their types agree and for messages.
  Result<plan::MatrixId> matrix(std::span<const Rows> parts, const std::vector<plan::RowRun>& runs);

  // f32, f16 and bf16 tensors, every value passed through `map`.
  Result<plan::VectorId> vector(const TensorSpec& spec, const std::function<float(float)>& map);
  Result<std::vector<float>> values(const TensorSpec& spec) const;
  plan::VectorId vector(const TensorSpec& spec, std::vector<float> values);

  plan::WeightTable take() { return std::move(table_); }

 private:
  const Checkpoint& checkpoint_;
  plan::WeightTable table_;
};

}  // namespace teapot::model
