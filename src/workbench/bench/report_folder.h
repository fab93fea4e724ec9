// The name of a run's folder.
#pragma once

#include <string>
#include <string_view>

namespace teapot::workbench {

// `name` as one component of a path: what some file system refuses, slashes and blanks become '_'; never empty, "." or ".."; at most 200
// bytes and whole characters.
std::string folder_name(std::string_view name);

}  // namespace teapot::workbench
