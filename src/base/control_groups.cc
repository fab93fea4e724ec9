#include "base/control_groups.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace teapot {

std::optional<std::string> read_system_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void visit_control_groups(const std::string& root, std::string_view controller,
                          const std::function<void(GroupVersion version, const std::string& directory)>& visit) {
  const std::string groups = read_system_file(root + "/proc/self/cgroup").value_or("");
  for (size_t at = 0; at < groups.size();) {
    const size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string_view line = std::string_view(groups).substr(at, end - at);  // id:controllers:/path
    at = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (!version2 && !fmt::format(",{},", controllers).contains(fmt::format(",{},", controller))) continue;
    const std::string mount = version2 ? root + "/sys/fs/cgroup" : fmt::format("{}/sys/fs/cgroup/{}", root, controller);
    std::string group(line.substr(second + 1));
    while (true) {
      visit(version2 ? GroupVersion::k2 : GroupVersion::k1, group == "/" ? mount : mount + group);
      if (group.size() <= 1) break;
      group.resize(std::max<size_t>(group.rfind('/'), 1));
    }
  }
}

}  // namespace teapot
