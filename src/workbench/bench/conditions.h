// The conditions of a run as rows for a reader.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace teapot::workbench {

// Every leaf of an object with its path: {"host": {"cores": 2}} gives {"host.cores", "2"}. Lists of plain values and empty objects are
// leaves; strings stand without quotes, fractions with six digits. Anything but an object has no rows.
std::vector<std::pair<std::string, std::string>> condition_rows(const Json& conditions);

}  // namespace teapot::workbench
