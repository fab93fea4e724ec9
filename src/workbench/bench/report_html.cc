// The page: tables are in its HTML, curves are drawn by assets/bench.js from columns of numbers.
#include <cmath>

#include "workbench/bench/conditions.h"
#include "workbench/bench/figure_table.h"
#include "workbench/bench/formulas.h"
#include "workbench/bench/reports.h"
#include "workbench/optional_json.h"
#include "workbench/web_page.h"

namespace teapot::workbench {
namespace {

// About five bytes each: a page of some megabytes still opens at once.
constexpr size_t kMaxTracedChunks = 1'000'000;

int64_t us_between(int64_t from_ns, int64_t to_ns) { return (to_ns - from_ns + 500) / 1000; }
double ms_rounded(double ms) { return std::round(ms * 1e3) / 1e3; }

template <class Names>
std::string table_head(std::string_view label, const Names& names) {
  std::string out =
      fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr><th></th><th></th>", label);
  for (const std::string_view name : names) out += fmt::format("<th>{}</th>", escape_html(name));
  return out + "</tr></thead>\n<tbody>\n";
}

std::string times_table(const BenchRun& run) {
  const std::vector<TimeRow> rows = time_rows(run.loads);
  if (rows.empty()) return "";
  std::string out = table_head("Times", kTimeHeads);
  for (const TimeRow& row : rows) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", row.name, escape_html(row.load));
    for (const std::string& cell : row.cells) out += fmt::format("<td>{}</td>", cell);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figures_table(const BenchRun& run) {
  std::string out = table_head("Figures", load_names(run.loads));
  for (const FigureRow& row : figure_rows(run.loads)) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", row.name, row.which);
    for (size_t i = 0; i < row.cells.size(); ++i) {
      out += fmt::format("<td{}>{}</td>", row.bad[i] ? " class=\"bad\"" : "", escape_html(row.cells[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

template <class Rows>
std::string two_columns(std::string_view title, const Rows& rows) {
  std::string out = fmt::format("<h2>{}</h2>\n<dl class=\"pairs\">\n", title);
  for (const auto& [name, value] : rows) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  return out + "</dl>\n";
}

constexpr std::string_view kCharts = R"(<div id="curves">
<h2>By number of users</h2>
<div class="charts"><div class="chart"><canvas id="tpot"></canvas></div><div class="chart"><canvas id="ttft"></canvas></div></div>
<h2>Distributions</h2>
<p class="controls"><label><input type="checkbox" id="log"> logarithmic time</label></p>
<div class="charts"><div class="chart"><canvas id="ttft-cdf"></canvas></div><div class="chart"><canvas id="tpot-cdf"></canvas></div>
<div class="chart"><canvas id="itl-cdf"></canvas></div></div>
<h2>Requests</h2>
<p class="controls"><label>Load <select id="load"></select></label></p>
<div class="chart" id="timeline-box"><canvas id="timeline"></canvas></div>
<h2>One reply, chunk by chunk</h2>
<p class="controls"><label>Request <select id="request"></select></label></p>
<div class="chart"><canvas id="trace"></canvas></div>
<p class="note" id="trace-note"></p>
</div>
)";

// Columns, not objects: a name a request would be most of the file.
Json load_data(const BenchRun::Load& load, const std::string& name, size_t& chunks_left, size_t& untraced) {
  const LoadResult& result = load.result;
  Json start = Json::array(), first = Json::array(), end = Json::array(), outcome = Json::array(), error = Json::object();
  Json ttft = Json::array(), tpot = Json::array(), tokens = Json::array(), traces = Json::array(), told = Json::object();
  for (size_t i = 0; i < result.records.size(); ++i) {
    const RequestRecord& record = result.records[i];
    const bool began = record.start_ns != 0;
    start.push_back(began ? Json(us_between(result.start_ns, record.start_ns)) : Json());
    first.push_back(record.first_ns == 0 ? Json() : Json(us_between(result.start_ns, record.first_ns)));
    end.push_back(began ? Json(us_between(result.start_ns, record.end_ns)) : Json());
    outcome.push_back(static_cast<int>(record.outcome));
    if (!record.error.empty()) error[std::to_string(i)] = record.error;
    const auto first_ms = ttft_ms(record), token_ms = tpot_ms(record);
    ttft.push_back(first_ms ? Json(ms_rounded(*first_ms)) : Json());
    tpot.push_back(token_ms ? Json(ms_rounded(*token_ms)) : Json());
    tokens.push_back(record.has_usage ? Json(record.completion_tokens) : Json());
    if (record.chunks.size() > chunks_left) {
      traces.push_back(nullptr);
      ++untraced;
      continue;
    }
    chunks_left -= record.chunks.size();
    // Gaps of rounded times, so that they add up.
    Json gaps = Json::array(), brought = Json::array();
    bool several = false;
    int64_t before = 0;
    for (const Chunk& chunk : record.chunks) {
      const int64_t at = us_between(record.start_ns, chunk.at_ns);
      gaps.push_back(at - before);
      before = at;
      brought.push_back(chunk.tokens);
      several = several || chunk.tokens > 1;
    }
    traces.push_back(std::move(gaps));
    if (several) told[std::to_string(i)] = std::move(brought);
  }
  const Json summary = to_json(load.summary);
  return {{"name", name},
          {"ttft_ms", summary["ttft_ms"]},
          {"tpot_ms", summary["tpot_ms"]},
          {"start", start},
          {"first", first},
          {"end", end},
          {"outcome", outcome},
          {"error", error},
          {"ttft", ttft},
          {"tpot", tpot},
          {"tokens", tokens},
          {"traces", traces},
          {"chunk_tokens", told}};
}

}  // namespace

std::string report_html(const BenchRun& run) {
  WebPage page;
  page.title = run.name;
  page.body = "<h1>" + escape_html(run.name) + "</h1>\n";
  const auto conditions = condition_rows(run.conditions);
  std::string subtitle;
  for (const auto& [name, value] : conditions) {
    if (name == "server.model" || name == "server.url" || name == "started") subtitle += (subtitle.empty() ? "" : " · ") + value;
  }
  page.body += "<p class=\"note\">" + escape_html(subtitle) + "</p>\n";
  if (!run.complete) page.body += "<p class=\"bad\">The run was not completed: this is what there was.</p>\n";
  page.body += html_list("Warnings", run.warnings) + html_list("Failures", failure_lines(run));
  page.body += "<h2>Figures</h2>\n" + figures_table(run) + times_table(run);
  page.body += kCharts;
  page.body += two_columns("Conditions", conditions) + two_columns("Formulas", kFormulas);

  const std::vector<std::string> names = load_names(run.loads);
  size_t chunks_left = kMaxTracedChunks, untraced = 0;
  page.data = Json{{"outcomes", kOutcomeNames}, {"loads", Json::array()}};
  for (size_t i = 0; i < run.loads.size(); ++i) page.data["loads"].push_back(load_data(run.loads[i], names[i], chunks_left, untraced));
  page.data["untraced"] = untraced;
  page.scripts = {"chart.min.js", "bench.js"};
  return to_html(page);
}

}  // namespace teapot::workbench
