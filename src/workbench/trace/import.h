// Reads traces of whatever kind, and analyses each rank that they hold.
#pragma once

#include <functional>

#include "workbench/trace/analysis.h"
#include "workbench/trace/fault.h"
#include "workbench/trace/sources.h"

namespace teapot::workbench::trace {

struct ImportOptions {
  std::string format = "auto";  // or what the trace must turn out to be
  std::optional<int64_t> rank;  // only this one
  AnalysisOptions analysis;
  std::function<void(uint64_t, uint64_t)> progress;  // bytes of the timeline that were read, and that it has
};

struct ImportFault {
  Fault fault;
  std::string format = "unknown", input;
};

// Ranks in ascending order, at least one.
std::expected<std::vector<Analysis>, ImportFault> import_traces(const std::vector<std::string>& paths, const Rules& rules,
                                                                const ImportOptions& options);

// One source's slices, of all its devices. `format`: what it turned out to be, also where an error follows.
Read<Trace> read_source(const Source& source, const Rules& rules, const ImportOptions& options, std::string& format);

}  // namespace teapot::workbench::trace
