// The answer for programs.
#pragma once

#include "base/json.h"
#include "workbench/trace/import.h"

namespace teapot::workbench::trace {

// One rank: its fields. Several: {"outcome": "ok", "ranks": [each rank's fields]}, what ranks waited for each other beside them.
Json to_json(const std::vector<Analysis>& ranks);
Json to_json(const Analysis& analysis);
Json to_json(const ImportFault& fault);

}  // namespace teapot::workbench::trace
