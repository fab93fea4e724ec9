// Which page sizes the host grants, found out by taking some.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace teapot::workbench {

struct PageGrant {
  std::string size;  // 4k, thp, 2m, 1g: as --pages has them
  bool granted;
  std::string reason;  // what was got, or why not
};

Result<std::vector<PageGrant>> probe_pages();

}  // namespace teapot::workbench
