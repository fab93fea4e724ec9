// Memory for weights, states and scratch: reserved as addresses at once, taken from the system page by page when first touched, zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace teapot::cpu {

// k2m and k1g come from the pools of reserved pages (vm.nr_hugepages); kBest: the largest of all that can be had.
enum class Pages { k4k, kThp, k2m, k1g, kBest };
const char* name(Pages pages);

constexpr size_t kAlignment = 64;  // of everything that is placed in an arena: a cache line, and the widest vector
constexpr uint64_t align_up(uint64_t bytes, uint64_t alignment = kAlignment) { return (bytes + alignment - 1) / alignment * alignment; }

// Whether the system gives transparent huge pages to those who ask: its setting must be "always" or "madvise".
struct PagesReport {
  Pages active;        // kThp or k4k
  std::string reason;  // why not the ones asked for; else empty
};
PagesReport supported_pages(Pages requested);

// How much of a piece of memory is there, and how much of that in huge pages, as the kernel counts (/proc/self/smaps).
struct PageUsage {
  uint64_t resident_bytes = 0;
  uint64_t huge_bytes = 0;
};

class Arena {
 public:
  // what: named in errors ("weights"). Reserving takes no memory yet, but for k2m and k1g; whether there is enough is for the owner to
  // check, unless the arena is pooled(). kMemory when pages of the size are not there (the message says how many are).
  static Result<Arena> reserve(const std::string& what, uint64_t bytes, Pages pages);

  Arena() = default;
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(map_bytes_, other.map_bytes_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(pages_, other.pages_);
    return *this;
  }
  ~Arena();

  std::byte* data() const { return data_; }  // page-aligned
  uint64_t bytes() const { return bytes_; }
  Pages pages() const { return pages_; }                                        // what was got: never kBest
  bool pooled() const { return pages_ == Pages::k2m || pages_ == Pages::k1g; }  // taken already, from a pool
  Result<PageUsage> usage() const;

 private:
  static Result<Arena> reserve_pooled(const std::string& what, uint64_t bytes, Pages pages);
  static Result<Arena> reserve_best(const std::string& what, uint64_t bytes);

  void* map_ = nullptr;
  uint64_t map_bytes_ = 0;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
  Pages pages_ = Pages::k4k;
};

// The sum over the parts of /proc/<pid>/smaps that lie within [begin, end).
PageUsage sum_smaps(std::string_view smaps, uintptr_t begin, uintptr_t end);

}  // namespace teapot::cpu
