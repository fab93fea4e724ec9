#include "model/placement.h"

#include <algorithm>
#include <tuple>

#include <fmt/ranges.h>

namespace teapot::model {

Result<std::string> order_by_place(const std::string& path, const std::byte* begin, uint64_t alignment, std::vector<Tensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return std::tie(a.data, a.bytes, a.name) < std::tie(b.data, b.bytes, b.name); });
  std::string gap;
  uint64_t end = 0;
  const Tensor* last = nullptr;
  for (const Tensor& tensor : tensors) {
    const uint64_t offset = static_cast<uint64_t>(tensor.data - begin);
    if (offset < end)
      return fail(ErrorKind::kInvalid, "{}: tensors '{}' and '{}' share bytes: the first ends at {}, the second begins at {}", path,
                  last->name, tensor.name, end, offset);
    const uint64_t expected = (end + alignment - 1) / alignment * alignment;
    if (offset > expected && gap.empty())
      gap = fmt::format("{}: {} bytes of data before tensor '{}' belong to no tensor", path, offset - expected, tensor.name);
    end = offset + tensor.bytes;
    last = &tensor;
  }
  return gap;
}

std::optional<uint64_t> element_count(const std::vector<uint64_t>& shape) {
  uint64_t count = 1;
  for (const uint64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

std::string shape_text(const std::vector<uint64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace teapot::model
