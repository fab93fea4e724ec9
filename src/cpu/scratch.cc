#include "cpu/scratch.h"

#include <algorithm>

#include "base/memory.h"

namespace teapot::cpu {

Status Scratch::touch(uint64_t bytes) {
  if (bytes <= in_use_) return {};
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  if (bytes - in_use_ > memory.available_bytes) {
    return fail(ErrorKind::kMemory, "{}: {} more bytes are needed, {} are available ({})", what_, bytes - in_use_, memory.available_bytes,
                memory.limited_by);
  }
  in_use_ = bytes;
  return {};
}

Result<bool> Scratch::grow(uint64_t bytes) {
  if (bytes <= arena_.bytes()) return false;
  TEAPOT_TRY(Arena bigger, Arena::reserve(what_, bytes, pages_));
  std::swap(arena_, bigger);
  in_use_ = 0;
  if (bigger.data() != nullptr) outgrown_.push_back(std::move(bigger));
  return true;
}

Result<HeapScratch> allocate_scratch(const char* what, uint64_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, align_up(std::max<uint64_t>(bytes, 1))));
  if (memory == nullptr) return fail(ErrorKind::kMemory, "{}: {} bytes cannot be allocated", what, bytes);
  return HeapScratch(memory);
}

}  // namespace teapot::cpu
