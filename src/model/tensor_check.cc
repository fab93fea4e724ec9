#include "model/tensor_check.h"

#include <set>

#include "model/placement.h"

namespace teapot::model {
namespace {

// Files where only one name is wrong are common: a renamed tensor is both missing and unexpected.
std::string files_of(const Checkpoint& checkpoint) {
  if (checkpoint.files.empty()) return "checkpoint";
  const std::string& first = checkpoint.files.front().path();
  return checkpoint.files.size() == 1 ? first : fmt::format("{} and {} more", first, checkpoint.files.size() - 1);
}

}  // namespace

Result<SkippedByReason> check_tensors(const Checkpoint& checkpoint, const ModelTensors& expected,
                                      const std::function<std::string(const Tensor&)>& skip_reason) {
  std::set<std::string, std::less<>> needed;
  for (const TensorSpec& spec : all_tensors(expected)) {
    const Tensor* tensor = checkpoint.find(spec.name);
    if (tensor == nullptr) {
      return fail(ErrorKind::kInvalid, "{}: tensor {} {} is missing", files_of(checkpoint), spec.name, shape_text(spec.shape));
    }
    if (tensor->shape != spec.shape) {
      return fail(ErrorKind::kInvalid, "{}: tensor {} has shape {}, the configuration asks for {}", checkpoint.path_of(*tensor), spec.name,
                  shape_text(tensor->shape), shape_text(spec.shape));
    }
    needed.insert(spec.name);
  }
  SkippedByReason skipped;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (needed.contains(tensor.name)) continue;
    const std::string reason = skip_reason(tensor);
    if (reason.empty()) {
      return fail(ErrorKind::kInvalid, "{}: tensor {} {} is unexpected: nothing in the configuration asks for it",
                  checkpoint.path_of(tensor), tensor.name, shape_text(tensor.shape));
    }
    Skipped& entry = skipped[reason];
    ++entry.tensors;
    entry.bytes += tensor.bytes;
  }
  if (!checkpoint.gap.empty()) return fail(ErrorKind::kInvalid, "{}", checkpoint.gap);
  return skipped;
}

}  // namespace teapot::model
