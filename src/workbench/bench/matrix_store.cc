// Results of cells as files.
#include <array>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "workbench/bench/matrix_cell.h"
#include "workbench/whole_file.h"

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

using Number = std::pair<const char*, double CellFigures::*>;
constexpr std::array<Number, 7> kNumbers = {{{"ttft_ms", &CellFigures::ttft_ms},
                                             {"ttft_p50_ms", &CellFigures::ttft_p50_ms},
                                             {"ttft_p99_ms", &CellFigures::ttft_p99_ms},
                                             {"tpot_ms", &CellFigures::tpot_ms},
                                             {"tpot_p50_ms", &CellFigures::tpot_p50_ms},
                                             {"tpot_p99_ms", &CellFigures::tpot_p99_ms},
                                             {"output_tok_s", &CellFigures::output_tok_s}}};
using Count = std::pair<const char*, uint64_t CellFigures::*>;
constexpr std::array<Count, 2> kCounts = {{{"ttft_count", &CellFigures::ttft_count}, {"tpot_count", &CellFigures::tpot_count}}};

fs::path cell_path(const MatrixPlan& plan, const MatrixCell& cell, const std::string& dir) {
  return fs::path(dir) / (cell_name(plan, cell) + ".json");
}

bool read_figures(const Json& json, CellFigures& figures) {
  if (!json.is_object()) return false;
  for (const auto& [name, member] : kNumbers) {
    if (!json.contains(name) || !json[name].is_number()) return false;
    figures.*member = json[name].get<double>();
  }
  for (const auto& [name, member] : kCounts) {
    if (!json.contains(name) || !json[name].is_number_unsigned()) return false;
    figures.*member = json[name].get<uint64_t>();
  }
  if (!json.contains("requests") || !json["requests"].is_number_unsigned()) return false;
  figures.requests = figures.succeeded = json["requests"].get<uint32_t>();
  return true;
}

}  // namespace

Status save_cell(const MatrixPlan& plan, const CellResult& result, const std::string& dir) {
  Json figures{{"requests", result.figures->requests}};
  for (const auto& [name, member] : kNumbers) figures[name] = (*result.figures).*member;
  for (const auto& [name, member] : kCounts) figures[name] = (*result.figures).*member;
  const Json json{{"definition", cell_definition(plan, result.cell)},
                  {"figures", std::move(figures)},
                  {"warnings", result.warnings},
                  {"folder", result.folder}};
  return write_whole_file(cell_path(plan, result.cell, dir), dump_json(json) + "\n");
}

std::optional<CellResult> load_cell(const MatrixPlan& plan, const MatrixCell& cell, const std::string& dir, std::string& note) {
  const fs::path path = cell_path(plan, cell, dir);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  CellResult result;
  CellFigures figures;
  const Result<Json> json = read_json_file(path.string());
  if (!json) {
    note = json.error().message;
    return std::nullopt;
  }
  if (!json->is_object() || !json->contains("definition") || !json->contains("figures") || !read_figures((*json)["figures"], figures)) {
    note = fmt::format("{}: no result of a cell", path.string());
    return std::nullopt;
  }
  if ((*json)["definition"] != cell_definition(plan, cell)) {
    note = "its definition has changed";
    return std::nullopt;
  }
  result.cell = cell;
  result.figures = figures;
  if (json->contains("warnings") && (*json)["warnings"].is_array()) {
    for (const Json& warning : (*json)["warnings"]) {
      if (warning.is_string()) result.warnings.push_back(warning.get<std::string>());
    }
  }
  if (json->contains("folder") && (*json)["folder"].is_string()) result.folder = (*json)["folder"].get<std::string>();
  result.kept = true;
  return result;
}

}  // namespace teapot::workbench
