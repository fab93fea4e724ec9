#include "cpu/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace teapot::cpu {
namespace {

constexpr uint64_t kHugePage = 2u << 20;
constexpr const char* kThpSetting = "/sys/kernel/mm/transparent_hugepage/enabled";

}  // namespace

PagesReport supported_pages(Pages requested) {
  if (requested == Pages::k4k) return {Pages::k4k, ""};
  std::ifstream file(kThpSetting);
  const std::string setting(std::istreambuf_iterator<char>(file), {});
  if (setting.empty()) return {Pages::k4k, fmt::format("{} cannot be read", kThpSetting)};
  if (setting.contains("[never]")) return {Pages::k4k, fmt::format("{} is never", kThpSetting)};
  return {Pages::kThp, ""};
}

Result<Arena> Arena::reserve(const std::string& what, uint64_t bytes, Pages pages) {
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
  if (huge && madvise(arena.data_, bytes, MADV_HUGEPAGE) != 0) {
    return fail(ErrorKind::kIo, "{}: the system refuses transparent huge pages ({}): use pages=4k", what,
                std::generic_category().message(errno));
  }
  return arena;
}

Arena::~Arena() {
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

}  // namespace teapot::cpu
