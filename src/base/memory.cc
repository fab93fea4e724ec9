#include "base/memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace teapot {
namespace {

// Files of /proc and /sys have no size: they are read to their end.
std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

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
  std::string_view mount, limit, usage, inactive, active;
};
constexpr GroupFiles kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file ", "active_file "};
constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                                  "total_active_file "};

// Lowers `status` to the limit of one group. "max", the unlimited value of version 2, is no number.
void apply_group(const std::string& directory, const GroupFiles& files, MemoryStatus& status) {
  const std::string limit_path = directory + "/" + std::string(files.limit);
  const auto limit_text = read_text(limit_path);
  const auto usage_text = read_text(directory + "/" + std::string(files.usage));
  if (!limit_text || !usage_text) return;
  const auto limit = number(*limit_text);
  const auto usage = number(*usage_text);
  if (!limit || !usage || *limit >= status.total_bytes) return;

  uint64_t cache = 0;
  if (const auto stat = read_text(directory + "/memory.stat")) {
    cache = field(*stat, files.inactive).value_or(0) + field(*stat, files.active).value_or(0);
  }
  const uint64_t held = *usage - std::min(*usage, cache);
  status.total_bytes = *limit;
  status.available_bytes = std::min(status.available_bytes, *limit - std::min(*limit, held));
  status.limited_by = limit_path;
}

// `group` as /proc/self/cgroup spells it, then its ancestors up to the mount. Within a container the path may be the host's and
// not exist below the mount: the mount's own files still do.
void apply_ancestors(const std::string& root, std::string group, const GroupFiles& files, MemoryStatus& status) {
  const std::string mount = root + std::string(files.mount);
  while (true) {
    apply_group(group == "/" ? mount : mount + group, files, status);
    if (group.size() <= 1) return;
    group.resize(std::max<size_t>(group.rfind('/'), 1));
  }
}

}  // namespace

Result<MemoryStatus> read_memory(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  const auto meminfo = read_text(path);
  if (!meminfo) return fail(ErrorKind::kIo, "{}: cannot be read", path);
  const auto total = field(*meminfo, "MemTotal:");
  const auto available = field(*meminfo, "MemAvailable:");
  if (!total || !available) return fail(ErrorKind::kIo, "{}: no MemTotal or MemAvailable", path);
  MemoryStatus status{*total * 1024, *available * 1024, "host"};

  // A host without control groups has no such file: nothing limits.
  const std::string groups = read_text(root + "/proc/self/cgroup").value_or("");
  for (size_t at = 0; at < groups.size();) {
    const size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string_view line = std::string_view(groups).substr(at, end - at);  // id:controllers:/path
    at = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) {
      apply_ancestors(root, std::string(line.substr(second + 1)), kVersion2, status);
    } else if (fmt::format(",{},", controllers).contains(",memory,")) {
      apply_ancestors(root, std::string(line.substr(second + 1)), kVersion1, status);
    }
  }
  return status;
}

}  // namespace teapot
