// The tables of a run for a terminal of 100 columns.
#include <algorithm>

#include "workbench/bench/bench.h"
#include "workbench/bench/conditions.h"
#include "workbench/bench/figure_table.h"
#include "workbench/bench/formulas.h"
#include "workbench/bench/wrap.h"

namespace teapot::workbench {
namespace {

constexpr size_t kName = 18, kWhich = 6, kColumn = 12;
constexpr size_t kTimeName = 15, kTimeColumn = 9;
constexpr size_t kLoadsABlock = 6;  // columns that fit beside the names

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string red(const std::string& text) const { return color_ ? "\x1b[31m" + text + "\x1b[0m" : text; }
  std::string bold(const std::string& text) const { return color_ ? "\x1b[1m" + text + "\x1b[0m" : text; }

 private:
  bool color_;
};

std::string head(std::string_view name, std::string_view which) {
  const size_t after_name = kName + kWhich - std::min(kName + kWhich, std::max(kName, name.size()));
  return fmt::format("{:<{}}{:<{}}", name, kName, which, after_name);
}

std::string table(std::span<const BenchRun::Load> loads, const Painter& paint) {
  std::string out = head("", "");
  for (const std::string& name : load_names(loads)) out += paint.bold(fmt::format("{:>{}}", name, kColumn));
  out += '\n';
  for (const FigureRow& row : figure_rows(loads)) {
    out += head(row.name, row.which);
    for (size_t i = 0; i < loads.size(); ++i) {
      const std::string cell = fmt::format("{:>{}}", row.cells[i], kColumn);
      out += row.bad[i] ? paint.red(cell) : cell;
    }
    out += '\n';
  }
  return out;
}

std::string time_table(std::span<const BenchRun::Load> loads, const Painter& paint) {
  const std::vector<TimeRow> rows = time_rows(loads);
  if (rows.empty()) return "";
  size_t load_width = 0;
  for (const TimeRow& row : rows) load_width = std::max(load_width, row.load.size());
  std::string out(kTimeName + load_width, ' ');
  for (const std::string_view name : kTimeHeads) out += paint.bold(fmt::format("{:>{}}", name, kTimeColumn));
  out += '\n';
  for (const TimeRow& row : rows) {
    out += fmt::format("{:<{}}{:<{}}", row.name, kTimeName, row.load, load_width);
    for (const std::string& cell : row.cells) out += fmt::format("{:>{}}", cell, kTimeColumn);
    out += '\n';
  }
  return out + "\n";
}

std::string failures(const BenchRun& run, const Painter& paint) {
  std::string out;
  for (const std::string& failure : failure_lines(run)) out += paint.red(wrap("  ", failure));
  return out.empty() ? out : paint.bold("Failures\n") + out + "\n";
}

std::string warnings(const BenchRun& run, const Painter& paint) {
  std::string out;
  if (!run.complete) out += paint.red(wrap("  ", "The run was not completed: this is what there was."));
  for (const std::string& warning : run.warnings) out += paint.red(wrap("  ", warning));
  return out.empty() ? out : paint.bold("Warnings\n") + out + "\n";
}

// One entry a top-level condition. What lies deeper than two levels is for the other reports, but for the client's own cost.
std::string conditions(const Json& all) {
  constexpr std::string_view kClientCost = "overhead.";
  std::string out, group, text;
  const auto flush = [&] {
    if (!text.empty()) out += wrap(fmt::format("  {:<10}", group), text);
    text.clear();
  };
  for (const auto& [path, value] : condition_rows(all)) {
    const size_t dot = std::min(path.find('.'), path.size());
    if (path.substr(0, dot) != group) flush();
    group = path.substr(0, dot);
    const std::string rest = dot == path.size() ? "" : path.substr(dot + 1);
    const bool client_cost = group == "client" && rest.starts_with(kClientCost);
    if (!client_cost && rest.find('.') != rest.npos) continue;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", rest, rest.empty() ? "" : " ", value);
  }
  flush();
  return out;
}

}  // namespace

std::string to_text(const BenchRun& run, bool color) {
  const Painter paint(color);
  const std::span<const BenchRun::Load> loads(run.loads);
  std::string out = paint.bold(run.name) + "\n\n";
  for (size_t at = 0; at < loads.size(); at += kLoadsABlock) {
    out += table(loads.subspan(at, std::min(kLoadsABlock, loads.size() - at)), paint) + "\n";
  }
  out += time_table(loads, paint);
  out += failures(run, paint) + warnings(run, paint);
  const std::string under_which = conditions(run.conditions);
  if (!under_which.empty()) out += paint.bold("Conditions\n") + under_which + "\n";
  out += paint.bold("Formulas\n");
  for (const auto& [name, formula] : kFormulas) out += wrap(fmt::format("  {:<16}", name), formula);
  return out;
}

}  // namespace teapot::workbench
