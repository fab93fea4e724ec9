// Kernels as Ascend's CSV files list them: kernel_details.csv, op_summary_*.csv, task_time_*.csv. Shapes are in the first two only; copies
// are in none, and nothing is told about the host.
#pragma once

#include "workbench/trace/byte_stream.h"
#include "workbench/trace/slices.h"

namespace teapot::workbench::trace {

// Whether the first bytes of a file look like the header of one of them; `format` then is "ascend_pt" or "msprof". Totals by operator,
// which name no times of single kernels, are not.
bool is_kernel_csv(std::string_view head, std::string& format);

// Appends to the trace's device slices. Times are in the unit of their column's header. Faults: "missing column", "unknown unit",
// "precision lost" with the column; what JSON readers say of the bytes.
Read<void> read_kernel_csv(ByteStream& stream, const Rules& rules, Trace& trace);

// The bytes of weight kernels, from the CSV beside a timeline: the k-th kernel of a name there is the k-th of that name here. Names that
// occur in another number are matched by their start, if the clocks are the same.
void take_bytes(const Trace& csv, Trace& trace);

}  // namespace teapot::workbench::trace
