// The memory of KV caches: pages of kPagePositions positions for all attention layers, counted by how many slots hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/arena.h"
#include "plan/backend.h"

namespace teapot::cpu {

class KvPages {
 public:
  // page_bytes 0: a model without attention, which never takes one.
  KvPages(uint64_t page_bytes, Pages pages);

  // A page of one holder; what is in it is left from the last. kMemory when the system gives no more.
  Result<plan::PageId> take();
  void share(plan::PageId page) { ++holders_[index(page)]; }
  void drop(plan::PageId page);

  std::byte* at(plan::PageId page) const { return slabs_[index(page) / slab_pages_]->data() + index(page) % slab_pages_ * page_bytes_; }

  uint64_t page_bytes() const { return page_bytes_; }
  uint32_t in_use() const { return in_use_; }
  uint64_t kept_bytes() const { return free_.size() * page_bytes_; }  // not in use, for the next takers

 private:
  static size_t index(plan::PageId page) { return static_cast<size_t>(page); }
  Status grow();
  void unmap(size_t slab);

  uint64_t page_bytes_;
  Pages pages_;
  size_t slab_pages_;                        // pages are taken from the system so many at a time
  std::vector<std::optional<Arena>> slabs_;  // nothing: given back
  std::vector<uint32_t> slab_in_use_;        // [slabs] pages
  std::vector<uint32_t> holders_;            // [slabs * slab_pages]
  std::vector<plan::PageId> free_;           // the last dropped at the end: it may still be in a cache
  uint32_t in_use_ = 0;
};

}  // namespace teapot::cpu
