// What a benchmark tells while it runs: notes in the log, and the bar of the load in progress with its live TPOT.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/progress.h"
#include "workbench/bench/bench.h"

namespace teapot::cli {

class BenchProgress {
 public:
  // For a run; the object must outlive it. stop: of the run.
  workbench::BenchEvents events(const std::atomic<bool>& stop);

  void note(const std::string& text);

 private:
  void update(uint32_t parallel, uint32_t done, uint32_t of, double tpot_ms);

  std::unique_ptr<ProgressBar> bar_;
};

}  // namespace teapot::cli
