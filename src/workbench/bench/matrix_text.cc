// A matrix for terminals, spreadsheets, documents and programs; its page is matrix_page.cc.
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "workbench/bench/matrix_rows.h"
#include "workbench/bench/wrap.h"
#include "workbench/optional_json.h"

namespace teapot::workbench {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char byte : text) quoted += byte == '"' ? std::string("\"\"") : std::string(1, byte);
  return quoted + '"';
}

std::string markdown_field(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '|') {
      out += "\\|";
    } else {
      out += byte == '\n' || byte == '\r' ? ' ' : byte;
    }
  }
  return out;
}

}  // namespace

std::string to_text(const Matrix& matrix) {
  const std::vector<MatrixRow> rows = matrix_rows(matrix);
  size_t widest = 6;
  for (const MatrixRow& row : rows) widest = std::max(widest, columns(row.server));
  const auto line = [&](const auto& fields) {
    const std::string pad(widest - std::min(widest, columns(fields[2])), ' ');
    std::string text = fmt::format("{:<10}{:>4}  {}{}{:>11}{:>10}{:>11}{:>10}{:>11}{:>9}\n", fields[0], fields[1], fields[2], pad,
                                   fields[3], fields[4], fields[5], fields[6], fields[7], fields[8]);
    return text;
  };
  std::string out = matrix.plan.name + "\n\n" + line(kMatrixHeads);
  std::string last;
  for (const MatrixRow& row : rows) {
    if (!last.empty() && last != row.load) out += '\n';
    last = row.load;
    out += line(matrix_fields(row));
  }
  out += "\n" + wrap("", kMatrixNote);
  const auto add = [&](std::string_view title, const std::vector<std::string>& list) {
    if (!list.empty()) out += fmt::format("\n{}\n", title);
    for (const std::string& item : list) out += wrap("  ", item);
  };
  add("Not whole", matrix_faults(rows));
  add("Warnings", matrix_warnings(rows));
  return out;
}

std::string to_csv(const Matrix& matrix) {
  std::string out =
      "prompt_tokens,output_tokens,parallel,server,control,requests,succeeded,ttft_ms,ttft_ratio,tpot_ms,tpot_ratio,output_tok_s,error\n";
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : std::string(); };
  for (const MatrixRow& row : matrix_rows(matrix)) {
    const MatrixCell& cell = row.cell->cell;
    const CellFigures figures = row.cell->figures.value_or(CellFigures{});
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell.load.prompt_tokens, cell.load.output_tokens, cell.parallel,
                       csv_field(row.server), row.control ? 1 : 0, figures.requests, figures.succeeded, number(row.ttft_ms),
                       number(row.ttft_ratio), number(row.tpot_ms), number(row.tpot_ratio), number(row.output_tok_s),
                       csv_field(row.cell->error));
  }
  return out;
}

std::string to_markdown(const Matrix& matrix) {
  std::string out = fmt::format("# {}\n\n|", markdown_field(matrix.plan.name));
  for (const std::string_view head : kMatrixHeads) out += fmt::format(" {} |", head);
  out += "\n|---|---:|---|---:|---:|---:|---:|---:|---:|\n";
  const std::vector<MatrixRow> rows = matrix_rows(matrix);
  for (const MatrixRow& row : rows) {
    out += '|';
    for (const std::string& cell : matrix_fields(row)) out += fmt::format(" {} |", markdown_field(cell));
    out += '\n';
  }
  out += fmt::format("\n{}\n", kMatrixNote);
  const auto add = [&](std::string_view title, const std::vector<std::string>& list) {
    if (!list.empty()) out += fmt::format("\n{}:\n\n", title);
    for (const std::string& item : list) out += "* " + markdown_field(item) + "\n";
  };
  add("Not whole", matrix_faults(rows));
  add("Warnings", matrix_warnings(rows));
  return out;
}

Json to_json(const Matrix& matrix) {
  Json json{{"name", matrix.plan.name}, {"control", matrix.plan.control}, {"clean", matrix.clean()}, {"cells", Json::array()}};
  for (const MatrixRow& row : matrix_rows(matrix)) {
    const MatrixCell& cell = row.cell->cell;
    Json entry{{"server", row.server},
               {"prompt", cell.load.prompt_tokens},
               {"output", cell.load.output_tokens},
               {"parallel", cell.parallel},
               {"number", cell.number},
               {"control", row.control}};
    if (row.cell->figures) {
      entry["requests"] = row.cell->figures->requests;
      entry["succeeded"] = row.cell->figures->succeeded;
    }
    entry["ttft_ms"] = or_null(row.ttft_ms);
    entry["ttft_ratio"] = or_null(row.ttft_ratio);
    entry["tpot_ms"] = or_null(row.tpot_ms);
    entry["tpot_ratio"] = or_null(row.tpot_ratio);
    entry["output_tok_s"] = or_null(row.output_tok_s);
    entry["kept"] = row.cell->kept;
    entry["warnings"] = row.cell->warnings;
    entry["folder"] = row.cell->folder;
    entry["error"] = row.cell->error.empty() ? Json() : Json(row.cell->error);
    json["cells"].push_back(std::move(entry));
  }
  return json;
}

Status write_matrix(const Matrix& matrix, const std::string& dir) {
  const std::filesystem::path folder(dir);
  TEAPOT_CHECK(write_file(folder / "matrix.txt", to_text(matrix)));
  TEAPOT_CHECK(write_file(folder / "matrix.csv", to_csv(matrix)));
  TEAPOT_CHECK(write_file(folder / "matrix.md", to_markdown(matrix)));
  TEAPOT_CHECK(write_file(folder / "matrix.html", to_html(matrix)));
  return write_file(folder / "matrix.json", dump_json(to_json(matrix)) + "\n");
}

}  // namespace teapot::workbench
