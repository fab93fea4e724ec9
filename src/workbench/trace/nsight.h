// Nsight Systems' SQLite export: kernels, copies and fills are the device, CUDA calls and NVTX ranges the host. Every process counts its
// correlation ids anew, so that an id is one only together with its process.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "workbench/trace/fault.h"
#include "workbench/trace/slices.h"

struct sqlite3;

namespace teapot::workbench::trace {

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// Read-only; the file is neither locked nor changed.
Read<Database> open_database(const std::string& path);
// A database in memory, copied from bytes.
Read<Database> open_database(std::span<const unsigned char> bytes);

// "unknown format" for a database without tables of CUDA activity, "malformed" where SQLite finds the file broken.
Read<Trace> read_nsight(sqlite3* database, const Rules& rules, const std::string& source);

}  // namespace teapot::workbench::trace
