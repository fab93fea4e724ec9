// Files that are there as a whole or as they were before, whenever the program is killed.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace teapot::workbench {

// Written under this name first, and renamed then.
std::string part_of(const std::string& path);
Status remove_part(const std::string& path);  // that an earlier run may have left
Status put_in_place(const std::string& path);

Status write_whole_file(const std::string& path, std::string_view bytes);

}  // namespace teapot::workbench
