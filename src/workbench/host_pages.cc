#include "workbench/host_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "cpu/arena.h"

namespace teapot::workbench {
namespace {

constexpr uint64_t kMiB = 1u << 20;
constexpr uint64_t kThpProbeBytes = 64 * kMiB;

// Of this process, in bytes.
Result<uint64_t> anonymous_huge_bytes() {
  constexpr const char* kPath = "/proc/self/smaps_rollup";
  std::ifstream file(kPath);
  for (std::string key; file >> key;) {
    uint64_t kib = 0;
    if (key == "AnonHugePages:" && file >> kib) return kib * 1024;
  }
  return fail(ErrorKind::kIo, "{}: no AnonHugePages", kPath);
}

Result<PageGrant> probe_thp() {
  if (const cpu::PagesReport report = cpu::supported_pages(cpu::Pages::kThp); report.active != cpu::Pages::kThp) {
    return PageGrant{"thp", false, report.reason};
  }
  TEAPOT_TRY(const cpu::Arena arena, cpu::Arena::reserve("the probe of huge pages", kThpProbeBytes, cpu::Pages::kThp));
  TEAPOT_TRY(const uint64_t before, anonymous_huge_bytes());
  std::memset(arena.data(), 1, kThpProbeBytes);
  TEAPOT_TRY(const uint64_t after, anonymous_huge_bytes());
  const uint64_t got = after > before ? after - before : 0;
  return PageGrant{"thp", got > 0, fmt::format("{} of {} MiB were given in huge pages", got / kMiB, kThpProbeBytes / kMiB)};
}

// log2_bytes: as mmap wants it.
PageGrant probe_reserved(const char* size, int log2_bytes) {
  const size_t bytes = size_t{1} << log2_bytes;
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (log2_bytes << MAP_HUGE_SHIFT), -1, 0);
  if (page == MAP_FAILED) {
    return {size, false, errno == ENOMEM ? "no page of this size is free (vm.nr_hugepages)" : std::generic_category().message(errno)};
  }
  munmap(page, bytes);
  return {size, true, "a reserved page was given"};
}

}  // namespace

Result<std::vector<PageGrant>> probe_pages() {
  TEAPOT_TRY(PageGrant thp, probe_thp());
  return std::vector<PageGrant>{{"4k", true, ""}, std::move(thp), probe_reserved("2m", 21), probe_reserved("1g", 30)};
}

}  // namespace teapot::workbench
