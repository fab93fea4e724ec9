// The tables of a run for a terminal of 100 columns.
#include <algorithm>

#include "workbench/bench/bench.h"
#include "workbench/bench/conditions.h"
#include "workbench/bench/formulas.h"
#include "workbench/bench/wrap.h"

namespace teapot::workbench {
namespace {

constexpr size_t kLabel = 24, kColumn = 12;
constexpr size_t kLoadsABlock = 6;  // columns that fit beside the labels

// Four significant digits or so: the noise of a run is far above them.
std::string figure(double value) {
  if (value < 1) return fmt::format("{:.4f}", value);
  if (value < 100) return fmt::format("{:.2f}", value);
  return value < 1000 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string red(const std::string& text) const { return color_ ? "\x1b[31m" + text + "\x1b[0m" : text; }
  std::string bold(const std::string& text) const { return color_ ? "\x1b[1m" + text + "\x1b[0m" : text; }

 private:
  bool color_;
};

using Loads = std::span<const BenchRun::Load>;

// One line: the cell of each load; a row in which no load has anything is left out.
template <class Cell>
std::string row(std::string_view label, Loads loads, const Cell& cell) {
  std::string line = fmt::format("{:<{}}", label, kLabel);
  bool any = false;
  for (const BenchRun::Load& load : loads) {
    const std::string text = cell(load.summary);
    any = any || !text.empty();
    line += fmt::format("{:>{}}", text.empty() ? "-" : text, kColumn);
  }
  return any ? line + "\n" : std::string();
}

std::string distribution_rows(std::string_view name, Loads loads, Distribution LoadSummary::* member,
                              std::span<const std::pair<std::string_view, double Distribution::*>> figures) {
  std::string lines;
  std::string_view label = name;
  for (const auto& [which, value] : figures) {
    lines += row(fmt::format("{:<16}{}", label, which), loads, [&](const LoadSummary& summary) {
      const Distribution& all = summary.*member;
      return all.count == 0 ? std::string() : figure(all.*value);
    });
    if (!lines.empty()) label = "";
  }
  return lines;
}

using Figures = std::array<std::pair<std::string_view, double Distribution::*>, 4>;
constexpr Figures kTpotFigures = {
    {{"mean", &Distribution::mean}, {"p50", &Distribution::p50}, {"p90", &Distribution::p90}, {"p99", &Distribution::p99}}};
constexpr std::array kTtftFigures = {kTpotFigures[0], kTpotFigures[1], kTpotFigures[3]};

std::string share(uint64_t part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(part) / whole) : ""; }

std::string table(Loads loads, const Painter& paint) {
  std::string out = paint.bold(row("", loads, [](const LoadSummary& summary) {
    return summary.rate > 0 ? fmt::format("c={}, {:g}/s", summary.parallel, summary.rate) : fmt::format("c={}", summary.parallel);
  }));
  out += row("requests", loads, [](const LoadSummary& summary) { return std::to_string(summary.requests); });
  const std::string success =
      row("succeeded", loads, [](const LoadSummary& summary) { return share(summary.succeeded, summary.requests); });
  const bool failed = std::ranges::any_of(loads, [](const BenchRun::Load& load) { return load.summary.succeeded < load.summary.requests; });
  out += failed ? paint.red(success) : success;
  out += distribution_rows("TTFT ms", loads, &LoadSummary::ttft_ms, kTtftFigures);
  out += distribution_rows("TPOT ms", loads, &LoadSummary::tpot_ms, kTpotFigures);
  out += distribution_rows("ITL ms a chunk", loads, &LoadSummary::itl_ms, kTtftFigures);
  out += distribution_rows("latency ms", loads, &LoadSummary::latency_ms, kTtftFigures);
  out += row("tokens a chunk", loads, [](const LoadSummary& summary) {
    return summary.chunk_tokens.count == 0 ? "" : fmt::format("{:.2f}", summary.chunk_tokens.mean);
  });
  out += row("prompt tokens", loads, [](const LoadSummary& summary) { return fmt::format("{:.1f}", summary.prompt_tokens); });
  out += row("output tokens", loads, [](const LoadSummary& summary) { return fmt::format("{:.1f}", summary.completion_tokens); });
  out += row("output tok/s", loads, [](const LoadSummary& summary) { return figure(summary.output_tok_s); });
  out += row("total tok/s", loads, [](const LoadSummary& summary) { return figure(summary.total_tok_s); });
  out += row("requests/s", loads, [](const LoadSummary& summary) { return figure(summary.requests_s); });
  out += row("drafts accepted", loads, [](const LoadSummary& summary) {
    if (!summary.drafted) return std::string();
    return share(summary.accepted.value_or(0), static_cast<double>(*summary.drafted));
  });
  out += row("prompt tokens cached", loads, [](const LoadSummary& summary) {
    if (!summary.cached_tokens) return std::string();
    return share(*summary.cached_tokens, summary.prompt_tokens * summary.succeeded);
  });
  out += row("client CPU", loads, [](const LoadSummary& summary) { return fmt::format("{:.1f} %", 100 * summary.client_cpu_share); });
  return out;
}

// "c=4: 2 x died, first: connection closed after 12 events"
std::string failures(const BenchRun& run, const Painter& paint) {
  std::string out;
  for (const BenchRun::Load& load : run.loads) {
    for (size_t kind = 1; kind < kOutcomeNames.size(); ++kind) {
      const uint32_t count = load.summary.outcomes[kind];
      if (count == 0) continue;
      const auto first = std::ranges::find(load.result.records, static_cast<Outcome>(kind), &RequestRecord::outcome);
      std::string text = fmt::format("{} {}", count, kOutcomeNames[kind]);
      if (first != load.result.records.end() && !first->error.empty()) text += ", the first: " + first->error;
      out += paint.red(wrap(fmt::format("c={}: ", load.summary.parallel), text));
    }
  }
  return out.empty() ? out : paint.bold("Failures\n") + out + "\n";
}

std::string warnings(const BenchRun& run, const Painter& paint) {
  std::string out;
  if (!run.complete) out += paint.red(wrap("  ", "The run was not completed: what follows is what there was."));
  for (const std::string& warning : run.warnings) out += paint.red(wrap("  ", warning));
  return out.empty() ? out : paint.bold("Warnings\n") + out + "\n";
}

// One entry a top-level condition; what lies deeper than two levels is for the other reports, but for the client's own cost.
std::string conditions(const Json& all) {
  std::string out;
  std::string group, line;
  const auto flush = [&] {
    if (!line.empty()) out += wrap(fmt::format("  {:<10}", group), line);
    line.clear();
  };
  for (const auto& [path, value] : condition_rows(all)) {
    const size_t dot = path.find('.');
    const std::string name = path.substr(0, dot);
    if (name != group) flush();
    group = name;
    const std::string rest = dot == path.npos ? "" : path.substr(dot + 1);
    const bool client_cost = path.starts_with("client.overhead.");
    if (!client_cost && rest.find('.') != rest.npos) continue;
    line += (line.empty() ? "" : ", ") + (rest.empty() ? value : (client_cost ? rest.substr(9) : rest) + " " + value);
  }
  flush();
  return out;
}

}  // namespace

std::string to_text(const BenchRun& run, bool color) {
  const Painter paint(color);
  std::string out = paint.bold(run.name) + "\n\n";
  for (size_t at = 0; at < run.loads.size(); at += kLoadsABlock) {
    out += table(Loads(run.loads).subspan(at, std::min(kLoadsABlock, run.loads.size() - at)), paint) + "\n";
  }
  out += failures(run, paint) + warnings(run, paint);
  const std::string under_which = conditions(run.conditions);
  if (!under_which.empty()) out += paint.bold("Conditions\n") + under_which + "\n";
  out += paint.bold("Formulas\n");
  for (const auto& [name, formula] : kFormulas) out += wrap(fmt::format("  {:<16}", name), formula);
  return out;
}

}  // namespace teapot::workbench
