#include "workbench/bench/matrix_rows.h"

#include <algorithm>

#include "workbench/bench/figure_table.h"

namespace teapot::workbench {
namespace {

std::optional<double> known(const CellResult& cell, uint64_t CellFigures::* count, double CellFigures::* value) {
  if (!cell.figures || (*cell.figures).*count == 0) return std::nullopt;
  return (*cell.figures).*value;
}

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& control) {
  if (!value || !control || *control <= 0) return std::nullopt;
  return *value / *control;
}

std::string cell_words(const MatrixRow& row) { return fmt::format("{}, c={}, {}", row.load, row.cell->cell.parallel, row.server); }

std::string shown(const std::optional<double>& value) { return value ? figure(*value) : "-"; }
std::string shown_ratio(const MatrixRow& row, const std::optional<double>& ratio) {
  if (row.control) return "control";
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

}  // namespace

std::vector<MatrixRow> matrix_rows(const Matrix& matrix) {
  const MatrixPlan& plan = matrix.plan;
  const size_t per_server = plan.loads.size() * plan.parallel.size();
  const MatrixServer* control = plan.control_server();
  std::vector<size_t> order;
  if (control != nullptr) order.push_back(static_cast<size_t>(control - plan.servers.data()));
  for (size_t server = 0; server < plan.servers.size(); ++server) {
    if (&plan.servers[server] != control) order.push_back(server);
  }
  std::vector<MatrixRow> rows;
  for (size_t at = 0; at < per_server; ++at) {
    const size_t first = rows.size();
    for (const size_t server : order) {
      const CellResult& cell = matrix.cells[server * per_server + at];
      MatrixRow row;
      row.cell = &cell;
      row.load = fmt::format("{}/{}", cell.cell.load.prompt_tokens, cell.cell.load.output_tokens);
      row.server = plan.servers[server].name;
      row.control = &plan.servers[server] == control;
      row.ttft_ms = known(cell, &CellFigures::ttft_count, &CellFigures::ttft_ms);
      row.tpot_ms = known(cell, &CellFigures::tpot_count, &CellFigures::tpot_ms);
      if (cell.figures && cell.figures->output_tok_s > 0) row.output_tok_s = cell.figures->output_tok_s;
      if (control != nullptr && !row.control) {
        row.ttft_ratio = ratio(row.ttft_ms, rows[first].ttft_ms);
        row.tpot_ratio = ratio(row.tpot_ms, rows[first].tpot_ms);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::array<std::string, kMatrixHeads.size()> matrix_fields(const MatrixRow& row) {
  const auto& figures = row.cell->figures;
  return {row.load,
          std::to_string(row.cell->cell.parallel),
          row.server,
          figures ? fmt::format("{}/{}", figures->succeeded, figures->requests) : "-",
          shown(row.ttft_ms),
          shown_ratio(row, row.ttft_ratio),
          shown(row.tpot_ms),
          shown_ratio(row, row.tpot_ratio),
          shown(row.output_tok_s)};
}

std::vector<std::string> matrix_warnings(const std::vector<MatrixRow>& rows) {
  std::vector<std::pair<std::string, size_t>> counted;
  std::vector<std::string> first;
  for (const MatrixRow& row : rows) {
    for (const std::string& warning : row.cell->warnings) {
      const auto known = std::ranges::find(counted, warning, &std::pair<std::string, size_t>::first);
      if (known != counted.end()) {
        ++known->second;
      } else {
        counted.emplace_back(warning, 1);
        first.push_back(cell_words(row));
      }
    }
  }
  std::vector<std::string> lines;
  for (size_t i = 0; i < counted.size(); ++i) {
    const auto& [warning, count] = counted[i];
    lines.push_back(fmt::format("{}: {}", count == 1 ? first[i] : fmt::format("{} cells", count), warning));
  }
  return lines;
}

std::vector<std::string> matrix_faults(const std::vector<MatrixRow>& rows) {
  std::vector<std::string> lines;
  for (const MatrixRow& row : rows) {
    if (!row.cell->whole()) lines.push_back(cell_words(row) + ": " + row.cell->error);
  }
  return lines;
}

}  // namespace teapot::workbench
