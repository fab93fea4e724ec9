// Reads a Chrome trace as it streams by: what matters of each event goes into a RawTrace, the rest is passed over.
#pragma once

#include <functional>

#include "workbench/trace/byte_stream.h"
#include "workbench/trace/raw_trace.h"

namespace teapot::workbench::trace {

// Appends: a trace may lie in several files. Faults: "truncated" and "malformed" with the offset, "precision lost" for a time whose digits
// were rounded away, "unknown format" for JSON without events.
Read<void> read_json_trace(ByteStream& stream, RawTrace& trace, const std::function<void(uint64_t)>& progress = {});

}  // namespace teapot::workbench::trace
