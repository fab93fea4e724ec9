#include "cpu/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <linux/mman.h>

namespace teapot::cpu {
namespace {

constexpr uint64_t kHugePage = 2u << 20;
constexpr const char* kThpSetting = "/sys/kernel/mm/transparent_hugepage/enabled";

uint64_t pool_page_bytes(Pages pages) { return pages == Pages::k1g ? uint64_t{1} << 30 : uint64_t{2} << 20; }

// "3 of 8 pages of 2 MiB are free (/sys/kernel/mm/hugepages/hugepages-2048kB)"
std::string pool_state(Pages pages) {
  const uint64_t page = pool_page_bytes(pages);
  const std::string pool = fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB", page >> 10);
  uint64_t free = 0, all = 0;
  if (!(std::ifstream(pool + "/free_hugepages") >> free) || !(std::ifstream(pool + "/nr_hugepages") >> all)) {
    return fmt::format("the system has no pages of {} MiB ({} cannot be read)", page >> 20, pool);
  }
  return fmt::format("{} of {} pages of {} MiB are free ({})", free, all, page >> 20, pool);
}

}  // namespace

const char* name(Pages pages) {
  constexpr const char* kNames[] = {"4k", "thp", "2m", "1g", "best"};
  return kNames[static_cast<size_t>(pages)];
}

PagesReport supported_pages(Pages requested) {
  if (requested == Pages::k4k) return {Pages::k4k, ""};
  std::ifstream file(kThpSetting);
  const std::string setting(std::istreambuf_iterator<char>(file), {});
  if (setting.empty()) return {Pages::k4k, fmt::format("{} cannot be read", kThpSetting)};
  if (setting.contains("[never]")) return {Pages::k4k, fmt::format("{} is never", kThpSetting)};
  return {Pages::kThp, ""};
}

Result<Arena> Arena::reserve_pooled(const std::string& what, uint64_t bytes, Pages pages) {
  const uint64_t page = pool_page_bytes(pages);
  const uint64_t map_bytes = align_up(bytes == 0 ? 1 : bytes, page);
  if (map_bytes < bytes) return fail(ErrorKind::kMemory, "{}: {} bytes are more than the address space", what, bytes);
  const int size = pages == Pages::k1g ? MAP_HUGE_1GB : MAP_HUGE_2MB;
  void* const map = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size, -1, 0);
  if (map == MAP_FAILED) {
    return fail(ErrorKind::kMemory, "{}: pages={}: {} pages are needed, {}", what, name(pages), map_bytes / page, pool_state(pages));
  }
  Arena arena;
  arena.map_ = map;
  arena.map_bytes_ = map_bytes;
  arena.data_ = static_cast<std::byte*>(map);
  arena.bytes_ = bytes;
  arena.pages_ = pages;
  return arena;
}

Result<Arena> Arena::reserve_best(const std::string& what, uint64_t bytes) {
  for (const Pages pages : {Pages::k1g, Pages::k2m}) {
    if (bytes < pool_page_bytes(pages)) continue;
    if (auto arena = reserve_pooled(what, bytes, pages)) return arena;
  }
  return reserve(what, bytes, supported_pages(Pages::kThp).active);
}

Result<Arena> Arena::reserve(const std::string& what, uint64_t bytes, Pages pages) {
  if (pages == Pages::kBest) return reserve_best(what, bytes);
  if (pages == Pages::k2m || pages == Pages::k1g) return reserve_pooled(what, bytes, pages);
  const bool huge = pages == Pages::kThp && bytes >= kHugePage;
  const uint64_t map_bytes = align_up(bytes == 0 ? 1 : bytes, 4096) + (huge ? kHugePage : 0);
  if (map_bytes < bytes || map_bytes > (uint64_t{1} << 47)) {
    return fail(ErrorKind::kMemory, "{}: {} bytes are more than the address space", what, bytes);
  }
  void* const map = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    return fail(ErrorKind::kMemory, "{}: cannot reserve {} bytes: {}", what, map_bytes, std::generic_category().message(errno));
  }
  Arena arena;
  arena.map_ = map;
  arena.map_bytes_ = map_bytes;
  const auto address = reinterpret_cast<uintptr_t>(map);
  arena.data_ = static_cast<std::byte*>(map) + (huge ? align_up(address, kHugePage) - address : 0);
  arena.bytes_ = bytes;
  arena.pages_ = pages;
  if (huge && madvise(arena.data_, bytes, MADV_HUGEPAGE) != 0) {
    return fail(ErrorKind::kIo, "{}: the system refuses transparent huge pages ({}): use pages=4k", what,
                std::generic_category().message(errno));
  }
  // Small pages by "always" would be neither what was asked for nor what is reported.
  if (pages == Pages::k4k) madvise(arena.data_, bytes, MADV_NOHUGEPAGE);
  return arena;
}

Arena::~Arena() {
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

Result<PageUsage> Arena::usage() const {
  constexpr const char* kPath = "/proc/self/smaps";
  std::ifstream file(kPath);
  const std::string smaps(std::istreambuf_iterator<char>(file), {});
  if (smaps.empty()) return fail(ErrorKind::kIo, "{} cannot be read", kPath);
  const auto begin = reinterpret_cast<uintptr_t>(map_);
  return sum_smaps(smaps, begin, begin + map_bytes_);
}

}  // namespace teapot::cpu
