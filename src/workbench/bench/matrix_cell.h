// One cell of a matrix: a server, a load, a number of users. It is measured by one run, and its result is a file, so that a matrix that was
// stopped goes on where it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/bench/bench.h"
#include "workbench/bench/matrix_plan.h"

namespace teapot::workbench {

struct MatrixCell {
  size_t server = 0;  // of the plan
  MatrixLoad load;
  uint32_t parallel = 0, number = 0;
};

// A cell's figures: what the table shows. mean, p50 and p99 in milliseconds.
struct CellFigures {
  uint32_t requests = 0, succeeded = 0;
  double ttft_ms = 0, ttft_p50_ms = 0, ttft_p99_ms = 0;
  double tpot_ms = 0, tpot_p50_ms = 0, tpot_p99_ms = 0;
  uint64_t ttft_count = 0, tpot_count = 0;  // replies behind them
  double output_tok_s = 0;
};

struct CellResult {
  MatrixCell cell;
  std::optional<CellFigures> figures;  // of what succeeded; none: nothing was measured
  std::string error;                   // why it is not whole; empty: it is
  std::vector<std::string> warnings;   // of its run
  std::string folder;                  // of its reports; empty: none
  bool kept = false;                   // from an earlier run of the matrix

  bool whole() const { return error.empty() && figures.has_value(); }
};

// Server by server in the plan's order, then loads, then users: a server that has to be started is started once.
std::vector<MatrixCell> cells_of(const MatrixPlan& plan);

// "ours-1024-512-c4": of files.
std::string cell_name(const MatrixPlan& plan, const MatrixCell& cell);

// Of a cell's prompts: the same for all servers, another for each load and number of users, or a server that lives on would know the
// prompts of its cell before.
uint64_t cell_seed(const MatrixPlan& plan, const MatrixCell& cell);

// All that a cell's figures depend on, as far as the plan knows it: a kept result holds as long as this is the same.
Json cell_definition(const MatrixPlan& plan, const MatrixCell& cell);

// program: of this process, for a server that is ours. kNotFound: the environment has no such key.
Result<BenchOptions> cell_options(const MatrixPlan& plan, const MatrixCell& cell, const std::string& program);

CellResult cell_result(const MatrixCell& cell, const BenchRun& run);

// dir/CELL.json: written when a cell is whole. Loading gives nothing where there is no such file or its definition is another; note says
// why, if there is a file.
Status save_cell(const MatrixPlan& plan, const CellResult& result, const std::string& dir);
std::optional<CellResult> load_cell(const MatrixPlan& plan, const MatrixCell& cell, const std::string& dir, std::string& note);

}  // namespace teapot::workbench
