#include "workbench/bench/matrix.h"

#include <algorithm>
#include <filesystem>

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

CellResult failed(const MatrixCell& cell, std::string why) {
  CellResult result;
  result.cell = cell;
  result.error = std::move(why);
  return result;
}

class MatrixRun {
 public:
  MatrixRun(const MatrixPlan& plan, fs::path dir, const MatrixTools& tools, const MatrixEvents& events)
      : dir_(std::move(dir)), tools_(tools), events_(events) {
    matrix_.plan = plan;
  }

  Result<Matrix> run() {
    std::error_code error;
    fs::create_directories(cells_dir(), error);
    if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", cells_dir().string(), error.message());
    for (const MatrixCell& cell : cells_of(matrix_.plan)) matrix_.cells.push_back(look_up(cell));
    for (CellResult& result : matrix_.cells) {
      if (result.kept) continue;
      TEAPOT_CHECK(measure(result));
      TEAPOT_CHECK(write_matrix(matrix_, dir_.string()));
    }
    TEAPOT_CHECK(write_matrix(matrix_, dir_.string()));
    return std::move(matrix_);
  }

 private:
  fs::path cells_dir() const { return dir_ / "cells"; }
  std::string name(const MatrixCell& cell) const { return cell_name(matrix_.plan, cell); }
  bool stopped() const { return events_.stop != nullptr && *events_.stop; }
  void note(const std::string& text) const {
    if (events_.note) events_.note(text);
  }

  CellResult look_up(const MatrixCell& cell) const {
    std::string why;
    if (auto kept = load_cell(matrix_.plan, cell, cells_dir().string(), why)) {
      note(name(cell) + ": measured before, kept");
      return *std::move(kept);
    }
    if (!why.empty()) note(fmt::format("{}: measured again: {}", name(cell), why));
    return failed(cell, "not measured");
  }

  // A fault of a cell is in its result; an error is the folder's.
  Status measure(CellResult& result) {
    const MatrixCell cell = result.cell;
    if (stopped()) {
      result = failed(cell, "not measured: stopped");
      return {};
    }
    if (const Status ready = make_ready(cell.server); !ready) {
      result = failed(cell, ready.error().message);
      note(fmt::format("{}: {}", name(cell), result.error));
      return {};
    }
    note(fmt::format("{}: cell {} of {}", name(cell), &result - matrix_.cells.data() + 1, matrix_.cells.size()));
    const Result<BenchOptions> options = cell_options(matrix_.plan, cell, tools_.program);
    const Result<BenchRun> run = options ? tools_.bench(*options) : std::unexpected(options.error());
    if (!run) {
      result = failed(cell, run.error().message);
    } else {
      result = cell_result(cell, *run);
      TEAPOT_TRY(result.folder, write_reports(*run, cells_dir().string()));
      if (result.whole()) TEAPOT_CHECK(save_cell(matrix_.plan, result, cells_dir().string()));
    }
    if (!result.whole()) note(fmt::format("{}: {}", name(cell), result.error));
    return {};
  }

  // One server at a time: two on one host would disturb each other. One that did not start is not tried again for its other cells.
  Status make_ready(size_t server) {
    if (current_ != server) {
      running_.reset();
      current_ = server;
      ready_ = {};
      const MatrixServer& description = matrix_.plan.servers[server];
      if (!description.command.empty()) {
        note(fmt::format("starting {}: {}", description.name, fmt::join(description.command, " ")));
        auto started = tools_.start(description);
        if (started) {
          running_ = *std::move(started);
        } else {
          ready_ = std::unexpected(std::move(started).error());
        }
      }
    }
    return ready_;
  }

  Matrix matrix_;
  fs::path dir_;
  const MatrixTools& tools_;
  const MatrixEvents& events_;
  std::optional<size_t> current_;
  std::shared_ptr<void> running_;
  Status ready_;
};

}  // namespace

bool Matrix::clean() const { return std::ranges::all_of(cells, &CellResult::whole); }

Result<Matrix> run_matrix(const MatrixPlan& plan, const std::string& dir, const MatrixTools& tools, const MatrixEvents& events) {
  return MatrixRun(plan, dir, tools, events).run();
}

}  // namespace teapot::workbench
