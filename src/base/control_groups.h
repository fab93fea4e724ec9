// The control groups that a process belongs to, and what their files say.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace teapot {

// A file of /proc or /sys to its end (such files have no size); nothing if it cannot be read.
std::optional<std::string> read_system_file(const std::string& path);

enum class GroupVersion { k1, k2 };

// visit(version, directory) for this process' group of the controller ("memory", "cpu") and each of its ancestors up to the mount, for
// both versions of control groups. root stands in front of /proc and /sys (tests read a made-up tree). A host without control groups has
// nothing to visit. Directories may not exist: within a container a group's path may be the host's.
void visit_control_groups(const std::string& root, std::string_view controller,
                          const std::function<void(GroupVersion version, const std::string& directory)>& visit);

}  // namespace teapot
