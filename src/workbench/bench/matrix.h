// Several servers under the same loads: `teapot bench matrix`.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workbench/bench/matrix_cell.h"

namespace teapot::workbench {

struct Matrix {
  MatrixPlan plan;
  std::vector<CellResult> cells;  // in the order of cells_of

  bool clean() const;  // every cell is whole
};

// What measures: taken apart so that tests need no servers.
struct MatrixTools {
  std::function<Result<BenchRun>(const BenchOptions& options)> bench;
  // A server that has a command: starts it and returns when it is ready; it ends with the object.
  std::function<Result<std::shared_ptr<void>>(const MatrixServer& server)> start;
  std::string program;  // this program, for servers that are ours
};

struct MatrixEvents {
  std::function<void(const std::string& note)> note;
  const std::atomic<bool>* stop = nullptr;  // set: cells that are not measured yet stay so
};

// Cells whose results dir/cells/ has are kept; a cell that fails leaves the others alone, and is measured again the next time. Reports of
// each cell go to dir/cells/, the tables (write_matrix) to dir after each cell. kIo: dir can't be written.
Result<Matrix> run_matrix(const MatrixPlan& plan, const std::string& dir, const MatrixTools& tools, const MatrixEvents& events);

// One line a cell, load by load: TTFT, TPOT, and both as multiples of the control's (below 1: faster than it).
std::string to_text(const Matrix& matrix);
std::string to_csv(const Matrix& matrix);
std::string to_markdown(const Matrix& matrix);
std::string to_html(const Matrix& matrix);
Json to_json(const Matrix& matrix);

// matrix.txt, .csv, .md, .html and .json in dir.
Status write_matrix(const Matrix& matrix, const std::string& dir);

}  // namespace teapot::workbench
