// The answer for programs.
#pragma once

#include "base/json.h"
#include "workbench/trace/compare.h"
#include "workbench/trace/import.h"

namespace teapot::workbench::trace {

// One rank: its fields. Several: {"outcome": "ok", "ranks": [each rank's fields], "slowest_first": [who waits for whom]}. Advice beside
// them, and what changed against another trace.
Json to_json(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against);
Json to_json(const Analysis& analysis);
Json to_json(const ImportFault& fault);

}  // namespace teapot::workbench::trace
