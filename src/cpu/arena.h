// Memory for weights, states and scratch: reserved as addresses at once, taken from the system page by page when first touched, zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace teapot::cpu {

enum class Pages { k4k, kThp };

constexpr size_t kAlignment = 64;  // of everything that is placed in an arena: a cache line, and the widest vector
constexpr uint64_t align_up(uint64_t bytes, uint64_t alignment = kAlignment) { return (bytes + alignment - 1) / alignment * alignment; }

// What pages a host gives. kThp needs the system's transparent huge pages to be "always" or "madvise".
struct PagesReport {
  Pages active;
  std::string reason;  // why not the ones asked for; else empty
};
PagesReport supported_pages(Pages requested);

class Arena {
 public:
  // what: named in errors ("weights"). Reserving takes no memory yet; whether there is enough is for the owner to check.
  static Result<Arena> reserve(const std::string& what, uint64_t bytes, Pages pages);

  Arena() = default;
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(map_bytes_, other.map_bytes_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Arena();

  std::byte* data() const { return data_; }  // page-aligned
  uint64_t bytes() const { return bytes_; }

 private:
  void* map_ = nullptr;
  uint64_t map_bytes_ = 0;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace teapot::cpu
