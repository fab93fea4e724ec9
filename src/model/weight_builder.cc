#include "model/weight_builder.h"

#include <cstring>

#include "base/half.h"

namespace teapot::model {
namespace {

// Runs that continue each other in the file become one.
std::vector<plan::RowRun> merge(const std::vector<plan::RowRun>& runs, size_t row_bytes) {
  std::vector<plan::RowRun> merged;
  for (const plan::RowRun& run : runs) {
    if (!merged.empty() && merged.back().data + merged.back().rows * row_bytes == run.data) {
      merged.back().rows += run.rows;
    } else {
      merged.push_back(run);
    }
  }
  return merged;
}

}  // namespace

Result<Rows> WeightBuilder::rows(const TensorSpec& spec) const {
  const Tensor* tensor = checkpoint_.find(spec.name);
  if (tensor == nullptr) return fail(ErrorKind::kInternal, "tensor {} was not checked", spec.name);
  if (!tensor->type) {
    return fail(ErrorKind::kUnsupported, "{}: tensor {} has type {}, which is not supported", checkpoint_.path_of(*tensor), tensor->name,
                tensor->type_name);
  }
  const auto cols = static_cast<uint32_t>(tensor->shape.back());
  if (cols % plan::info(*tensor->type).elements != 0) {
    return fail(ErrorKind::kInvalid, "{}: tensor {} has rows of {}, no multiple of the {} elements of a {} block",
                checkpoint_.path_of(*tensor), tensor->name, cols, plan::info(*tensor->type).elements, tensor->type_name);
  }
  return Rows{tensor, *tensor->type, cols};
}

Result<plan::MatrixId> WeightBuilder::matrix(const TensorSpec& spec) {
  TEAPOT_TRY(const Rows all, rows(spec));
  uint64_t count = 1;
  for (size_t i = 0; i + 1 < spec.shape.size(); ++i) count *= spec.shape[i];
  return matrix({&all, 1}, {all.run(0, count)});
}

Result<plan::MatrixId> WeightBuilder::matrix(std::span<const Rows> parts, const std::vector<plan::RowRun>& runs) {
  const Rows& first = parts.front();
  for (const Rows& part : parts) {
    if (part.type != first.type) {
      return fail(ErrorKind::kUnsupported, "{}: tensor {} is {}, but {} is {}: the parts of one matrix must have one type",
                  checkpoint_.path_of(*part.tensor), part.tensor->name, part.tensor->type_name, first.tensor->name,
                  first.tensor->type_name);
    }
  }
  uint32_t count = 0;
  for (const plan::RowRun& run : runs) count += run.rows;
  const size_t bytes = plan::row_bytes(first.type, first.cols);
  table_.matrices.push_back({first.tensor->name, first.type, count, first.cols, merge(runs, bytes)});
  return static_cast<plan::MatrixId>(table_.matrices.size() - 1);
}

Result<std::vector<float>> WeightBuilder::values(const TensorSpec& spec) const {
  TEAPOT_TRY(const Rows all, rows(spec));
  const Tensor& tensor = *all.tensor;
  const size_t width = plan::info(all.type).bytes;
  if (plan::info(all.type).elements != 1) {
    return fail(ErrorKind::kUnsupported, "{}: tensor {} has type {}, expected F32, F16 or BF16", checkpoint_.path_of(tensor), tensor.name,
                tensor.type_name);
  }
  std::vector<float> values(tensor.bytes / width);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::byte* at = tensor.data + i * width;
    if (all.type == plan::WeightType::kF32) {
      std::memcpy(&values[i], at, sizeof(float));
      continue;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    values[i] = all.type == plan::WeightType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
  }
  return values;
}

Result<plan::VectorId> WeightBuilder::vector(const TensorSpec& spec, const std::function<float(float)>& map) {
  TEAPOT_TRY(std::vector<float> read, values(spec));
  for (float& value : read) value = map(value);
  return vector(spec, std::move(read));
}

plan::VectorId WeightBuilder::vector(const TensorSpec& spec, std::vector<float> values) {
  table_.vectors.push_back({spec.name, std::move(values)});
  return static_cast<plan::VectorId>(table_.vectors.size() - 1);
}

}  // namespace teapot::model
