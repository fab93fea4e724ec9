// What the page draws: for each rank its steps, the names that occur, and a lane a stream, a thread and the classes.
#pragma once

#include "base/json.h"
#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

// {"rank", "steps": [{"id", "start", "end", "complete", "ns": [classes]}], "names": [...], "lanes": [{"label", "nested", "start":
// [differences], "length", "name", "kind"}], "drawn_steps"}; times in ns since the first step's start. At most `max_slices` slices: whole
// steps, from the first on.
Json timeline_data(const Analysis& analysis, size_t max_slices);

}  // namespace teapot::workbench::trace
