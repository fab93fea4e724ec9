#include <algorithm>
#include <charconv>
#include <string_view>

#include "cpu/arena.h"

namespace teapot::cpu {
namespace {

// "7f12a000-7f12b000 rw-p ...": the first line of a mapping; those of its fields begin with a name and a colon.
bool parse_range(std::string_view line, uintptr_t& begin, uintptr_t& end) {
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, last, end, 16);
  return second.ec == std::errc() && second.ptr != last && *second.ptr == ' ';
}

// Bytes of a line "name:   123 kB"; 0 if it is another one.
uint64_t field(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return 0;
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  uint64_t kib = 0;
  std::from_chars(line.data(), line.data() + line.size(), kib);
  return kib * 1024;
}

}  // namespace

PageUsage sum_smaps(std::string_view smaps, uintptr_t begin, uintptr_t end) {
  PageUsage usage;
  bool within = false;
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    smaps.remove_prefix(std::min(line.size() + 1, smaps.size()));
    uintptr_t from = 0, to = 0;
    if (parse_range(line, from, to)) {
      within = from < end && to > begin;
    } else if (within) {
      // Pages of the pools count in fields of their own, not in Rss.
      const uint64_t pooled = field(line, "Private_Hugetlb:") + field(line, "Shared_Hugetlb:");
      usage.resident_bytes += field(line, "Rss:") + pooled;
      usage.huge_bytes += field(line, "AnonHugePages:") + pooled;
    }
  }
  return usage;
}

}  // namespace teapot::cpu
