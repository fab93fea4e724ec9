#include "text/jinja/heap.h"

#include "text/jinja/failure.h"

namespace teapot::text::jinja {
namespace {

constexpr size_t kBlockBytes = size_t{32} << 10;

}  // namespace

void* Heap::allocate(size_t bytes, size_t alignment) {
  if (bytes > bytes_left_) out_of_memory();
  bytes_left_ -= bytes;
  if (bytes > kBlockBytes / 4) {  // large things get their own block, so that the current one is not thrown away half used
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return blocks_.back().get();
  }
  void* at = free_;
  if (free_ == nullptr || std::align(alignment, bytes, at, free_bytes_) == nullptr) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes));
    at = blocks_.back().get();
    free_bytes_ = kBlockBytes;
  }
  free_ = static_cast<std::byte*>(at) + bytes;
  free_bytes_ -= bytes;
  return at;
}

void Heap::out_of_steps() { raise(TemplateErrorKind::kBudget, "the template takes more steps than one rendering may"); }
void Heap::out_of_memory() { raise(TemplateErrorKind::kBudget, "the template's values take more memory than one rendering may"); }

}  // namespace teapot::text::jinja
