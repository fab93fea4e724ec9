#include "cpu/kv_pages.h"

#include <algorithm>
#include <cassert>

namespace teapot::cpu {
namespace {

constexpr uint64_t kSlabBytes = uint64_t{16} << 20;   // few enough mappings, little enough to be left unused
constexpr uint64_t kKeptBytes = uint64_t{128} << 20;  // unused pages beyond so much go back to the system

}  // namespace

KvPages::KvPages(uint64_t page_bytes, Pages pages)
    : page_bytes_(page_bytes),
      pages_(pages),
      slab_pages_(page_bytes == 0 ? 1 : static_cast<size_t>(std::max<uint64_t>(1, kSlabBytes / page_bytes))) {}

Status KvPages::grow() {
  TEAPOT_TRY(Arena arena, Arena::reserve("pages of the KV cache", slab_pages_ * page_bytes_, pages_));
  const auto unmapped = std::ranges::find_if(slabs_, [](const auto& slab) { return !slab; });
  const auto slab = static_cast<size_t>(unmapped - slabs_.begin());
  if (unmapped == slabs_.end()) {
    slabs_.emplace_back();
    slab_in_use_.push_back(0);
    holders_.resize(slabs_.size() * slab_pages_);
  }
  slabs_[slab] = std::move(arena);
  for (size_t i = slab_pages_; i-- > 0;) free_.push_back(static_cast<plan::PageId>(slab * slab_pages_ + i));
  return {};
}

Result<plan::PageId> KvPages::take() {
  if (free_.empty()) TEAPOT_CHECK(grow());
  const plan::PageId page = free_.back();
  free_.pop_back();
  holders_[index(page)] = 1;
  ++slab_in_use_[index(page) / slab_pages_];
  ++in_use_;
  return page;
}

void KvPages::drop(plan::PageId page) {
  assert(holders_[index(page)] > 0);
  if (--holders_[index(page)] > 0) return;
  free_.push_back(page);
  --in_use_;
  const size_t slab = index(page) / slab_pages_;
  if (--slab_in_use_[slab] == 0 && kept_bytes() > kKeptBytes) unmap(slab);
}

void KvPages::unmap(size_t slab) {
  std::erase_if(free_, [&](plan::PageId page) { return index(page) / slab_pages_ == slab; });
  slabs_[slab].reset();
}

}  // namespace teapot::cpu
