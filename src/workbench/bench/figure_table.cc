#include "workbench/bench/figure_table.h"

#include <algorithm>
#include <array>

namespace teapot::workbench {
namespace {

using Loads = std::span<const BenchRun::Load>;

using Time = std::pair<const char*, Distribution LoadSummary::*>;
constexpr std::array<Time, 4> kTimes = {{{"TTFT ms", &LoadSummary::ttft_ms},
                                         {"TPOT ms", &LoadSummary::tpot_ms},
                                         {"ITL ms a chunk", &LoadSummary::itl_ms},
                                         {"latency ms", &LoadSummary::latency_ms}}};
constexpr std::array<double Distribution::*, kTimeHeads.size()> kTimeFigures = {&Distribution::mean, &Distribution::p50, &Distribution::p90,
                                                                                &Distribution::p95,  &Distribution::p99, &Distribution::min,
                                                                                &Distribution::max};

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

  std::vector<FigureRow> rows;

 private:
  Loads loads_;
};

std::string share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : ""; }

// Tokens are known of replies with usage only.
std::string mean_tokens(const LoadSummary& summary, double mean) {
  return summary.without_usage < summary.succeeded ? fmt::format("{:.1f}", mean) : "-";
}
std::string token_rate(const LoadSummary& summary, double rate) { return summary.without_usage == 0 ? figure(rate) : "-"; }

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
  table.add("tokens a chunk", "mean", [](const LoadSummary& summary) {
    return summary.chunk_tokens.count == 0 ? "-" : fmt::format("{:.2f}", summary.chunk_tokens.mean);
  });
  table.add("prompt tokens", "mean", [](const LoadSummary& summary) { return mean_tokens(summary, summary.prompt_tokens); });
  table.add("output tokens", "mean", [](const LoadSummary& summary) { return mean_tokens(summary, summary.completion_tokens); });
  table.add("output tok/s", "", [](const LoadSummary& summary) { return token_rate(summary, summary.output_tok_s); });
  table.add("total tok/s", "", [](const LoadSummary& summary) { return token_rate(summary, summary.total_tok_s); });
  table.add("requests/s", "", [](const LoadSummary& summary) { return figure(summary.requests_s); });
  table.add("drafts accepted", "", [](const LoadSummary& summary) {
    return share(static_cast<double>(summary.accepted.value_or(0)), static_cast<double>(summary.drafted.value_or(0)));
  });
  table.add("prompt tokens cached", "", [](const LoadSummary& summary) {
    if (!summary.cached_tokens) return std::string();
    return share(static_cast<double>(*summary.cached_tokens), summary.prompt_tokens * (summary.succeeded - summary.without_usage));
  });
  table.add("client CPU", "", [](const LoadSummary& summary) { return fmt::format("{:.1f} %", 100 * summary.client_cpu_share); });
  return std::move(table.rows);
}

std::vector<TimeRow> time_rows(Loads loads) {
  const std::vector<std::string> names = load_names(loads);
  std::vector<TimeRow> rows;
  for (const auto& [name, member] : kTimes) {
    const auto known = [member](const BenchRun::Load& load) { return (load.summary.*member).count > 0; };
    if (std::ranges::none_of(loads, known)) continue;
    for (size_t i = 0; i < loads.size(); ++i) {
      TimeRow row{.name = i == 0 ? name : "", .load = names[i], .cells = {}};
      for (size_t at = 0; at < kTimeHeads.size(); ++at) {
        row.cells[at] = known(loads[i]) ? figure(loads[i].summary.*member.*kTimeFigures[at]) : "-";
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
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
