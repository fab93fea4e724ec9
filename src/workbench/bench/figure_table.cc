#include "workbench/bench/figure_table.h"

#include <algorithm>
#include <array>

namespace teapot::workbench {
namespace {

using Loads = std::span<const BenchRun::Load>;
using Figure = std::pair<const char*, double Distribution::*>;

constexpr std::array<Figure, 4> kFour = {
    {{"mean", &Distribution::mean}, {"p50", &Distribution::p50}, {"p90", &Distribution::p90}, {"p99", &Distribution::p99}}};
constexpr std::array kThree = {kFour[0], kFour[1], kFour[3]};

class Rows {
 public:
  explicit Rows(Loads loads) : loads_(loads) {}

  // cell gives the text of a load, empty where there is none.
  template <class Cell>
  void add(const std::string& name, const std::string& which, const Cell& cell) {
    FigureRow row{.name = name, .which = which, .cells = {}, .bad = std::vector<bool>(loads_.size())};
    bool any = false;
    for (const BenchRun::Load& load : loads_) {
      const std::string text = cell(load.summary);
      any = any || !text.empty();
      row.cells.push_back(text.empty() ? "-" : text);
    }
    if (any) rows.push_back(std::move(row));
  }

  void add_all(std::string name, Distribution LoadSummary::* member, std::span<const Figure> figures) {
    for (const auto& [which, value] : figures) {
      const size_t before = rows.size();
      add(name, which, [&](const LoadSummary& summary) {
        const Distribution& all = summary.*member;
        return all.count == 0 ? std::string() : figure(all.*value);
      });
      if (rows.size() > before) name.clear();
    }
  }

  void add_figure(const std::string& name, double LoadSummary::* member) {
    add(name, "", [&](const LoadSummary& summary) { return figure(summary.*member); });
  }

  std::vector<FigureRow> rows;

 private:
  Loads loads_;
};

std::string share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : ""; }

}  // namespace

std::string figure(double value) {
  if (value < 1) return fmt::format("{:.4f}", value);
  if (value < 100) return fmt::format("{:.2f}", value);
  return value < 1000 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::vector<std::string> load_names(Loads loads) {
  std::vector<std::string> names;
  for (const BenchRun::Load& load : loads) {
    names.push_back(fmt::format("c={}", load.summary.parallel));
    if (load.summary.rate > 0) names.back() += fmt::format(", {:g}/s", load.summary.rate);
  }
  return names;
}

std::vector<FigureRow> figure_rows(Loads loads) {
  Rows table(loads);
  table.add("requests", "", [](const LoadSummary& summary) { return std::to_string(summary.requests); });
  table.add("succeeded", "", [](const LoadSummary& summary) { return share(summary.succeeded, summary.requests); });
  for (size_t i = 0; i < loads.size() && table.rows.size() > 1; ++i) {
    table.rows.back().bad[i] = loads[i].summary.succeeded < loads[i].summary.requests;
  }
  table.add_all("TTFT ms", &LoadSummary::ttft_ms, kThree);
  table.add_all("TPOT ms", &LoadSummary::tpot_ms, kFour);
  table.add_all("ITL ms a chunk", &LoadSummary::itl_ms, kThree);
  table.add_all("latency ms", &LoadSummary::latency_ms, kThree);
  table.add("tokens a chunk", "mean", [](const LoadSummary& summary) {
    return summary.chunk_tokens.count == 0 ? "" : fmt::format("{:.2f}", summary.chunk_tokens.mean);
  });
  table.add("prompt tokens", "mean", [](const LoadSummary& summary) { return fmt::format("{:.1f}", summary.prompt_tokens); });
  table.add("output tokens", "mean", [](const LoadSummary& summary) { return fmt::format("{:.1f}", summary.completion_tokens); });
  table.add_figure("output tok/s", &LoadSummary::output_tok_s);
  table.add_figure("total tok/s", &LoadSummary::total_tok_s);
  table.add_figure("requests/s", &LoadSummary::requests_s);
  table.add("drafts accepted", "", [](const LoadSummary& summary) {
    return share(static_cast<double>(summary.accepted.value_or(0)), static_cast<double>(summary.drafted.value_or(0)));
  });
  table.add("prompt tokens cached", "", [](const LoadSummary& summary) {
    if (!summary.cached_tokens) return std::string();
    return share(static_cast<double>(*summary.cached_tokens), summary.prompt_tokens * summary.succeeded);
  });
  table.add("client CPU", "", [](const LoadSummary& summary) { return fmt::format("{:.1f} %", 100 * summary.client_cpu_share); });
  return std::move(table.rows);
}

std::vector<std::string> failure_lines(const BenchRun& run) {
  std::vector<std::string> lines;
  const std::vector<std::string> names = load_names(run.loads);
  for (size_t i = 0; i < run.loads.size(); ++i) {
    const auto& [summary, result] = run.loads[i];
    for (size_t kind = 1; kind < kOutcomeNames.size(); ++kind) {
      if (summary.outcomes[kind] == 0) continue;
      lines.push_back(fmt::format("{}: {} {}", names[i], summary.outcomes[kind], kOutcomeNames[kind]));
      const auto first = std::ranges::find(result.records, static_cast<Outcome>(kind), &RequestRecord::outcome);
      if (first != result.records.end() && !first->error.empty()) lines.back() += ", the first: " + first->error;
    }
  }
  return lines;
}

}  // namespace teapot::workbench
