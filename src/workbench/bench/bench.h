// One run of the protocol: a server, a dataset, loads at several numbers of users.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/dataset.h"
#include "workbench/bench/load.h"
#include "workbench/bench/summary.h"

namespace teapot::workbench {

struct BenchOptions {
  std::string name;                          // of the run: folder and title; empty: model and time
  std::optional<std::string> url;            // this or model_path
  std::optional<std::string> model_path;     // a `serve` child of our own on a free port
  std::vector<std::string> serve_arguments;  // for that child
  std::string program;                       // path of this program, for the child
  std::string api_key;
  std::optional<std::string> tokenizer_path;  // default: model_path
  std::vector<uint32_t> parallel = {1};
  std::vector<uint32_t> number = {10};  // [parallel], or one for all
  uint32_t warmup = 0;
  double rate = 0;
  bool allow_length_drift = false;
  std::vector<unsigned> client_cpus;
  std::chrono::milliseconds token_timeout{120'000}, connect_timeout{10'000};
  DatasetOptions dataset;
  BodyOptions body;
};

// What a report says: all that was measured, and under which conditions.
struct BenchRun {
  std::string name;
  Json conditions;  // {"teapot", "started" (UTC), "clock", "host": {...}, "server": {"url", "model", "version", "levers"...}, "dataset":
                    // {...}, "request": {...}, "client": {"cpus", "overhead": {...}}}
  struct Load {
    LoadSummary summary;
    LoadResult result;
  };
  std::vector<Load> loads;            // [parallel]
  std::vector<std::string> warnings;  // in the words for the reader: cache hits that nobody asked for, lengths, a client that shares cores
  bool complete = true;               // false: stopped, or the server died; what there was is here

  bool clean() const;  // complete, and every request succeeded
};

struct BenchEvents {
  std::function<void(const std::string& note)> note;  // "starting …", "warming up"
  std::function<void(uint32_t parallel, uint32_t done, uint32_t of, double tpot_ms)> progress;
  std::function<void(const BenchRun& run)> load_done;  // after each load: partial results can be written
  const std::atomic<bool>* stop = nullptr;
};

Result<BenchRun> run_bench(const BenchOptions& options, const BenchEvents& events);

// Tables for the terminal, formulas under them. color: failures and cache hits in red.
std::string to_text(const BenchRun& run, bool color);
// dir/<name>/: summary.json, requests.jsonl, requests.sqlite, report.html. Returns the folder.
Result<std::string> write_reports(const BenchRun& run, const std::string& dir);

}  // namespace teapot::workbench
