// The files of a run's reports, one function each. write_reports (bench.h) puts them into a folder.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/bench.h"

namespace teapot::workbench {

// {"name", "complete", "clean", "warnings", "conditions", "loads": [...]}. A load has evalscope's names (its benchmark_summary.json: "Avg
// TPOT (ms)"), under "percentiles" the rows of its benchmark_percentile.json, by its rule (the value of rank ceil(p n)), and our own
// names of to_json(LoadSummary) beside them.
Json summary_json(const BenchRun& run);

// One line a request. Times in milliseconds from the load's start, "chunks_ms" one of each chunk; "chunk_tokens" where the server tells.
std::string requests_jsonl(const BenchRun& run);

// Tables loads, requests (load), chunks (load, request): a new database at `path`, in one transaction. Times in nanoseconds from the
// load's start. kIo with SQLite's reason.
Status write_requests_sqlite(const BenchRun& run, const std::string& path);

// One self-contained file.
std::string report_html(const BenchRun& run);

}  // namespace teapot::workbench
