#include <algorithm>

#include "workbench/bench/figure_table.h"
#include "workbench/bench/wrap.h"
#include "workbench/ladder/report.h"
#include "workbench/whole_file.h"

namespace teapot::workbench {
namespace {

constexpr LadderKind kKinds[] = {LadderKind::kNull, LadderKind::kClimb, LadderKind::kDrop, LadderKind::kWhole};

std::string padded(const std::string& text, size_t width) { return text + std::string(width - std::min(width, columns(text)), ' '); }

std::string table_text(const LadderTable& table) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.heads.size(); ++i) {
    size_t width = columns(table.heads[i]);
    for (const LadderTable::Row& row : table.rows) width = std::max(width, columns(row.cells[i]));
    widths.push_back(width);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = " ";
    for (size_t i = 0; i < cells.size(); ++i) out += " " + padded(cells[i], widths[i]) + " ";
    out.resize(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line(table.heads);
  for (const LadderTable::Row& row : table.rows) out += line(row.cells);
  return out;
}

// Bars from 0, one a level.
std::string bars(const std::string& title, const std::vector<std::pair<std::string, double>>& levels) {
  constexpr double kWidth = 48;
  size_t widest = 0;
  double most = 0;
  for (const auto& [label, ms] : levels) widest = std::max(widest, columns(label)), most = std::max(most, ms);
  std::string out = "\n" + title + "\n";
  for (const auto& [label, ms] : levels) {
    std::string bar;
    for (int i = 0; i < static_cast<int>(kWidth * ms / most + 0.5); ++i) bar += "█";
    out += fmt::format("  {}  {:>7}  {}\n", padded(label, widest), figure(ms), bar);
  }
  return out;
}

std::string waterfalls(const Ladder& ladder) {
  std::string out;
  const std::vector<LadderLevel> levels = waterfall(ladder);
  for (size_t load = 0; load < ladder.options.concurrency.size() && !levels.empty(); ++load) {
    std::vector<std::pair<std::string, double>> heights;
    for (const LadderLevel& level : levels) heights.emplace_back(level.label, level.ms[load]);
    out += bars(fmt::format("TPOT at c={}, ms", ladder.options.concurrency[load]), heights);
  }
  for (const OtherLadder& other : ladder.order.others) {
    std::vector<std::pair<std::string, double>> heights;
    for (size_t i = 0; i < other.steps_ms.size(); ++i) heights.emplace_back(fmt::format("step {}", i), other.steps_ms[i]);
    for (const auto& [c, ms] : other.with_drafts_ms) heights.emplace_back(fmt::format("with drafts, c={}", c), ms);
    out += bars(fmt::format("{}, ms ({})", other.name, other.note), heights);
  }
  return out;
}

std::string markdown_table(const LadderTable& table) {
  const auto line = [](const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); };
  std::string out = line(table.heads) + "|---|";
  for (size_t i = 1; i < table.heads.size(); ++i) out += "---|";
  out += "\n";
  for (const LadderTable::Row& row : table.rows) {
    std::vector<std::string> cells = row.cells;
    if (row.verdict == LadderVerdict::kWin) cells.back() = "**" + cells.back() + "**";
    out += line(cells);
  }
  return out;
}

}  // namespace

std::string to_text(const LadderReport& report) {
  const Ladder& ladder = report.found;
  std::string out = ladder.order.name + "\n\n" + wrap("  model     ", report.model) + wrap("  loading   ", report.way);
  for (const LadderKind kind : kKinds) {
    const LadderTable table = ladder_table(ladder, kind);
    if (!table.rows.empty()) out += fmt::format("\n{}\n{}", ladder_title(kind), table_text(table));
  }
  out += waterfalls(ladder) + "\n";
  for (const std::string& line : ladder_notes(ladder)) out += wrap("  note      ", line);
  for (const std::string& line : report.warnings) out += wrap("  warning   ", line);
  for (const std::string& line : ladder_summary(report)) out += wrap("  result    ", line);
  return out + "\n" + wrap("", kLadderNote);
}

std::string to_markdown(const LadderReport& report) {
  const Ladder& ladder = report.found;
  std::string out = fmt::format("# {}\n\n", ladder.order.name);
  for (const std::string& line : ladder_settings(report)) out += "* " + line + "\n";
  for (const LadderKind kind : kKinds) {
    const LadderTable table = ladder_table(ladder, kind);
    if (!table.rows.empty()) out += fmt::format("\n{}:\n\n{}", ladder_title(kind), markdown_table(table));
  }
  for (const OtherLadder& other : ladder.order.others) {
    std::string steps;
    for (const double ms : other.steps_ms) steps += fmt::format("{}{:g}", steps.empty() ? "" : " → ", ms);
    out += fmt::format("\n{}: {} ms", other.name, steps);
    for (const auto& [c, ms] : other.with_drafts_ms) out += fmt::format(", with drafts {:g} ms at c={}", ms, c);
    out += fmt::format(" ({}).\n", other.note);
  }
  out += "\n";
  for (const auto& lines : {ladder_notes(ladder), report.warnings, ladder_summary(report)}) {
    for (const std::string& line : lines) out += "* " + line + "\n";
  }
  return out + fmt::format("\n{}\n", kLadderNote);
}

Status write_ladder_reports(const LadderReport& report, const std::string& folder) {
  TEAPOT_CHECK(write_whole_file(folder + "/ladder.json", dump_json(to_json(report)) + "\n"));
  TEAPOT_CHECK(write_whole_file(folder + "/ladder.md", to_markdown(report)));
  return write_whole_file(folder + "/ladder.html", ladder_html(report));
}

}  // namespace teapot::workbench
