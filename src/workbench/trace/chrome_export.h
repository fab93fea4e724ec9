// The classified steps as a Chrome trace, to look at in ui.perfetto.dev or chrome://tracing: a track of classes, and the device's streams.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

// Each rank is a process. The analyses must have kept their traces. Written piece by piece: it may be as large as what was read.
Status write_chrome_trace(const std::vector<Analysis>& ranks, const std::string& path);

}  // namespace teapot::workbench::trace
