#include "base/memory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/control_groups.h"

namespace teapot {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// The number after `key` at the beginning of a line of /proc/meminfo or memory.stat.
std::optional<uint64_t> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).starts_with(key)) return number(text.substr(key.size(), end - key.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

// What the two versions of control groups call the same things.
struct GroupFiles {
  std::string_view limit, usage, inactive, active;
};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file ", "active_file "};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ", "total_active_file "};

// Lowers `status` to the limit of one group. "max", the unlimited value of version 2, is no number.
void apply_group(const std::string& directory, const GroupFiles& files, MemoryStatus& status) {
  const std::string limit_path = directory + "/" + std::string(files.limit);
  const auto limit_text = read_system_file(limit_path);
  const auto usage_text = read_system_file(directory + "/" + std::string(files.usage));
  if (!limit_text || !usage_text) return;
  const auto limit = number(*limit_text);
  const auto usage = number(*usage_text);
  if (!limit || !usage || *limit >= status.total_bytes) return;

  uint64_t cache = 0;
  if (const auto stat = read_system_file(directory + "/memory.stat")) {
    cache = field(*stat, files.inactive).value_or(0) + field(*stat, files.active).value_or(0);
  }
  const uint64_t held = *usage - std::min(*usage, cache);
  status.total_bytes = *limit;
  status.available_bytes = std::min(status.available_bytes, *limit - std::min(*limit, held));
  status.limited_by = limit_path;
}

}  // namespace

Result<MemoryStatus> read_memory(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  const auto meminfo = read_system_file(path);
  if (!meminfo) return fail(ErrorKind::kIo, "{}: cannot be read", path);
  const auto total = field(*meminfo, "MemTotal:");
  const auto available = field(*meminfo, "MemAvailable:");
  if (!total || !available) return fail(ErrorKind::kIo, "{}: no MemTotal or MemAvailable", path);
  MemoryStatus status{*total * 1024, *available * 1024, "host"};
  visit_control_groups(root, "memory", [&](GroupVersion version, const std::string& directory) {
    apply_group(directory, version == GroupVersion::k2 ? kVersion2 : kVersion1, status);
  });
  return status;
}

}  // namespace teapot
