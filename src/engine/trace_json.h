// A recording in our trace format, "teapot-trace" (docs/design.md): `teapot profile import` and ui.perfetto.dev read it.
#pragma once

#include <string>

#include "engine/recording.h"

namespace teapot::engine {

struct TraceFacts {
  double roof_gbps = 0;    // what the workers can read; 0: not measured
  std::string model = {};  // its name
};

// A track a worker with its ops, phase by phase (serial pieces are ops, too), and its waits at barriers; a track of what the decode thread
// does between and beside them; a track of steps. Times are whole nanoseconds since the first step, so that slices that touch do not
// overlap once they are read again. An op's bytes are spread evenly over its slices.
std::string trace_json(const Recording& recording, const TraceFacts& facts);

// "steps", "time", "memory".
std::string_view name_of(Recording::End end);

}  // namespace teapot::engine
