// The page of a comparison: the ratio table stands in its HTML, the walk of the pairs is drawn by assets/compare.js.
#include <cmath>

#include "workbench/bench/compare_report.h"
#include "workbench/bench/conditions.h"
#include "workbench/pairs/e_process.h"
#include "workbench/web_page.h"

namespace teapot::workbench {
namespace {

std::string row(const std::string& time, const std::string& users, const RatioFigures& figures) {
  const PairedFigures& pairs = figures.log_ratio;
  if (pairs.pairs == 0) return "";
  const std::string limits =
      std::isinf(figures.half_width) ? "too few pairs" : fmt::format("{:.4f} to {:.4f}", figures.low(), figures.high());
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td>{}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.4f}</td><td>{}</td><td>{:.2f}</td><td>{:.2f}</td>"
      "<td>{:.2g}</td></tr>\n",
      time, users, figures.a_ms, figures.b_ms, figures.ratio(), limits, 100 * pairs.sd, pairs.lag1, figures.p);
}

std::string table(const CompareReport& report) {
  const Comparison& found = report.found;
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ratios\"><table>\n<thead><tr><th></th><th>users</th><th>A ms</th>"
      "<th>B ms</th><th>B / A</th><th>{:g} % sequence</th><th>sd of a pair, %</th><th>lag-1</th><th>p</th></tr></thead>\n<tbody>\n",
      100 * (1 - report.options.alpha));
  for (const auto& [name, time] : {std::pair{"TPOT", &TimeFigures::tpot}, {"TTFT", &TimeFigures::ttft}}) {
    for (size_t load = 0; load < found.loads.size(); ++load) {
      out += row(name, fmt::format("{}", report.options.parallel[load]), found.loads[load].*time);
    }
    if (found.loads.size() > 1) out += row(name, "all", found.mean.*time);
    out += row(fmt::format("{}, A with A", name), "all", found.null.*time);
  }
  return out + "</tbody></table></div>\n";
}

// Of each valid pair its ratio at all loads together, and what was known after it.
Json walk(const CompareReport& report, bool null) {
  Json pairs = Json::array();
  EProcess process;
  for (const PairRecord& pair : report.pairs) {
    if (pair.null != null || !pair.valid()) continue;
    double a = 0, b = 0;
    for (const LoadPair& load : pair.loads) a += std::log(load.a.tpot_ms), b += std::log(load.b.tpot_ms);
    const auto loads = static_cast<double>(pair.loads.size());
    process.add((b - a) / loads);
    const double half = process.half_width(report.options.alpha);
    const bool limits = std::isfinite(half);
    pairs.push_back({{"pair", pair.number},
                     {"first", pair.b_first ? "B" : "A"},
                     {"a_ms", std::exp(a / loads)},
                     {"b_ms", std::exp(b / loads)},
                     {"ratio", std::exp((b - a) / loads)},
                     {"mean", std::exp(process.mean())},
                     {"low", limits ? Json(std::exp(process.mean() - half)) : Json()},
                     {"high", limits ? Json(std::exp(process.mean() + half)) : Json()},
                     {"e", std::exp(process.ln_e())}});
  }
  return pairs;
}

constexpr std::string_view kCharts = R"(<h2>Pair by pair</h2>
<div class="charts"><div class="chart"><canvas id="walk"></canvas></div><div class="chart"><canvas id="evidence"></canvas></div>
<div class="chart"><canvas id="times"></canvas></div><div class="chart" id="drift-box"><canvas id="drift"></canvas></div></div>
)";

}  // namespace

std::string compare_html(const CompareReport& report) {
  const Comparison& found = report.found;
  WebPage page;
  page.title = report.name;
  page.body = fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escape_html(report.name), escape_html(verdict_text(report.options, found)));
  if (found.gate) {
    page.body += fmt::format("<p class=\"{}\">Gate: {}</p>\n", found.gate->passed ? "good" : "bad", escape_html(gate_text(found)));
  }
  std::string warnings;
  for (const auto* list : {&report.warnings, &found.warnings}) {
    for (const std::string& warning : *list) warnings += "<li>" + escape_html(warning) + "</li>\n";
  }
  if (!warnings.empty()) page.body += "<h2>Warnings</h2>\n<ul class=\"bad\">\n" + warnings + "</ul>\n";
  page.body += "<h2>Ratios</h2>\n" + table(report);
  page.body +=
      "<p class=\"note\">d = ln(B / A) of the turns' mean times in each pair; all: its mean over the numbers of users, which the "
      "verdict is about. The sequence holds after every pair at once.</p>\n";
  page.body += kCharts;
  page.body += "<h2>Conditions</h2>\n<dl class=\"pairs\">\n";
  for (const auto& [name, value] : condition_rows(report.conditions)) {
    page.body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  }
  page.body += "</dl>\n";
  page.data = {{"real", walk(report, false)},
               {"null", walk(report, true)},
               {"threshold", 1 / report.options.alpha},
               {"target", report.options.target_ratio ? Json(*report.options.target_ratio) : Json()},
               {"read_gbs", found.read_gbs}};
  page.scripts = {"chart.min.js", "still_charts.js", "compare.js"};
  return to_html(page);
}

}  // namespace teapot::workbench
