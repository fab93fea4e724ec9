// Asks for what is read soon.
#pragma once

#include <cstddef>

namespace teapot::cpu {

// To L2.
inline void fetch(const void* begin, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const std::byte*>(begin) + i, 0, 2);
}

}  // namespace teapot::cpu
