// What lies under the paths that were given: for each rank, the files that hold its trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/fault.h"

namespace teapot::workbench::trace {

struct Source {
  std::string input;                   // last part of the path that was given, or of the folder that stands for a rank below it
  std::vector<std::string> timelines;  // JSON, packed or not; several are pieces of one
  std::vector<std::string> tables;     // CSV lists of kernels, likewise
  std::string database;                // SQLite
  std::optional<int64_t> rank;         // as the profiler's own notes say

  bool empty() const { return timelines.empty() && tables.empty() && database.empty(); }
};

// A folder: whatever traces it and its folders hold, by the names that the profilers give their files and, where there are none, by
// content. "cannot read", "unknown format".
Read<std::vector<Source>> find_sources(const std::string& path);

}  // namespace teapot::workbench::trace
