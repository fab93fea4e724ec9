#include "workbench/trace/report_html.h"

#include <algorithm>

#include <fmt/format.h>

#include "workbench/assets.h"
#include "workbench/trace/advice.h"
#include "workbench/trace/ranks.h"
#include "workbench/trace/report_figures.h"
#include "workbench/trace/report_text.h"
#include "workbench/trace/timeline_data.h"
#include "workbench/web_page.h"

namespace teapot::workbench::trace {
namespace {

constexpr size_t kMaxSlices = 600'000;  // in the page, of all ranks: some 15 MB, which browsers still open at once
constexpr size_t kMaxRows = 200;
constexpr size_t kName = 80;

std::string class_cell(Class kind) { return fmt::format("<td class=\"class\" style=\"--color: var(--{0})\">{0}</td>", name_of(kind)); }

std::string name_cell(const std::string& name) {
  return fmt::format("<td class=\"name\" style=\"text-align: left\" title=\"{}\">{}</td>", escape_html(name),
                     escape_html(short_name(name, kName)));
}

std::string table(const std::string& head, const std::string& rows) {
  return fmt::format("<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n", head, rows);
}

std::string classes_table(const Analysis& analysis) {
  std::string rows;
  for (size_t c = 0; c < kClasses; ++c) {
    const auto kind = static_cast<Class>(c);
    if (kind == Class::kUnattributed && analysis.counted_ns[c] == 0) continue;
    rows += fmt::format("<tr>{}<td>{:.1f}</td><td>{:.1f}</td><td class=\"text\">{}</td></tr>\n", class_cell(kind),
                        per_step(analysis, us(analysis.counted_ns[c])), share(analysis, analysis.counted_ns[c]), meaning_of(kind));
  }
  return "<h2>Where a step's time goes</h2>\n" +
         table("<th>class</th><th>µs a step</th><th>%</th><th style=\"text-align: left\">the device …</th>", rows);
}

std::string kinds_table(const Analysis& analysis) {
  std::string rows, head = "<th style=\"text-align: left\">kind of step</th><th>steps</th><th>µs each</th>";
  for (const std::string_view name : kClassNames) head += fmt::format("<th>{} %</th>", name);
  for (const KindTimes& kind : kinds_of(analysis)) {
    rows += fmt::format("<tr><td style=\"text-align: left\">{}</td><td>{}</td><td>{:.1f}</td>", escape_html(kind.kind), kind.steps,
                        us(kind.wall_ns) / static_cast<double>(kind.steps));
    for (const int64_t ns : kind.ns)
      rows += fmt::format("<td>{:.1f}</td>", 100 * static_cast<double>(ns) / static_cast<double>(kind.wall_ns));
    rows += "</tr>\n";
  }
  std::string text;
  if (!rows.empty()) text = "<h2>Kinds of steps</h2>\n" + table(head, rows);
  for (const std::string& fact : own_facts(analysis)) text += fmt::format("<p>{}</p>\n", escape_html(fact));
  return text;
}

std::string operators_table(const Analysis& analysis) {
  std::string rows;
  for (size_t i = 0; i < std::min(analysis.operators.size(), kMaxRows); ++i) {
    const Operator& op = analysis.operators[i];
    std::string megabytes, roof;
    if (op.bytes > 0) megabytes = fmt::format("{:.2f}", per_step(analysis, static_cast<double>(op.bytes)) / 1e6);
    if (op.bytes > 0 && analysis.roof_gbps && op.kind == Class::kBandwidth) {
      const double percent = 100 * static_cast<double>(op.bytes) / static_cast<double>(op.bytes_ns) / *analysis.roof_gbps;
      roof = percent > 100 ? "shapes do not explain it" : fmt::format("{:.0f}", percent);
    }
    rows += fmt::format("<tr>{}{}<td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td><td>{}</td><td>{}</td></tr>\n", class_cell(op.kind),
                        name_cell(op.name), per_step(analysis, static_cast<double>(op.calls)), per_step(analysis, us(op.ns)),
                        per_step(analysis, us(op.owned_ns)), megabytes, roof);
  }
  return "<h2>Operators</h2>\n" + table(
                                      "<th>class</th><th style=\"text-align: left\">operator</th><th>calls</th><th>µs a step</th><th>not "
                                      "hidden</th><th>MB</th><th>roof %</th>",
                                      rows);
}

std::string gaps_table(const Analysis& analysis) {
  std::string rows;
  for (size_t i = 0; i < std::min(analysis.gaps.size(), kMaxRows); ++i) {
    const Gap& gap = analysis.gaps[i];
    const std::string what = gap.name.empty() ? std::string(name_of(gap.cause)) : fmt::format("{} {}", name_of(gap.cause), gap.name);
    rows += fmt::format("<tr>{}{}<td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td></tr>\n", class_cell(gap.kind), name_cell(what),
                        per_step(analysis, static_cast<double>(gap.count)), per_step(analysis, us(gap.ns)), share(analysis, gap.ns));
  }
  if (rows.empty()) return "";
  return "<h2>While the device was idle</h2>\n" +
         table("<th>class</th><th style=\"text-align: left\">cause</th><th>times</th><th>µs a step</th><th>%</th>", rows);
}

std::string collectives_table(const Analysis& analysis) {
  std::string rows;
  for (const Collective& collective : analysis.collectives) {
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td></tr>\n", escape_html(short_name(collective.name, kName)),
        collective.bytes < 0 ? "not told" : std::to_string(collective.bytes), per_step(analysis, static_cast<double>(collective.calls)),
        per_step(analysis, us(collective.ns)), per_step(analysis, us(collective.exposed_ns)));
  }
  if (rows.empty()) return "";
  return "<h2>Collectives</h2>\n" + table("<th>collective</th><th>bytes</th><th>calls</th><th>µs a step</th><th>not hidden</th>", rows);
}

std::string advice_table(const Analysis& analysis) {
  const Advice advice = advise(analysis);
  std::string rows;
  for (const ClassAdvice& entry : advice.classes) {
    for (const Lever& lever : entry.levers) {
      const std::string expected = lever.expected ? fmt::format("{:g} … {:g}", lever.expected->first, lever.expected->second) : "no figure";
      rows += fmt::format(
          "<tr>{}<td>{:.1f} %</td><td style=\"text-align: left\">{}: {}</td><td>{}</td><td class=\"text\">{}</td><td "
          "class=\"text\">{}</td></tr>\n",
          class_cell(entry.kind), entry.percent, escape_html(lever.server), escape_html(lever.knob), expected, escape_html(lever.change),
          escape_html(lever.evidence));
    }
  }
  if (rows.empty()) return "";
  std::string text =
      "<h2>Levers</h2>\n<p class=\"note\">For each class over 5 % of the step. Expected: change of TPOT in %, negative is faster, as the "
      "source has it.</p>\n" +
      table(
          "<th>class</th><th>measured</th><th style=\"text-align: left\">lever</th><th>expected</th><th style=\"text-align: left\">what it "
          "does</th><th style=\"text-align: left\">evidence</th>",
          rows);
  if (!advice.tune.empty()) text += fmt::format("<p>Measure them: <code>{}</code></p>\n", escape_html(advice.tune));
  return text;
}

std::string ranks_table(const std::vector<Analysis>& ranks) {
  if (ranks.size() < 2) return "";
  std::string rows;
  for (const RankTimes& rank : compare_ranks(ranks)) {
    rows += fmt::format("<tr><td>{}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td></tr>\n", rank.rank, rank.wall_us, rank.waiting_us,
                        rank.own_us());
  }
  return "<h2>Ranks, slowest first</h2>\n" + table("<th>rank</th><th>µs a step</th><th>waits for another rank</th><th>its own</th>", rows);
}

std::string comparison_table(const Comparison& comparison) {
  std::string rows;
  for (size_t c = 0; c < kClasses; ++c) {
    if (comparison.before_us[c] == 0 && comparison.after_us[c] == 0) continue;
    rows += fmt::format("<tr>{}<td>{:.1f}</td><td>{:.1f}</td><td>{:+.1f}</td></tr>\n", class_cell(static_cast<Class>(c)),
                        comparison.before_us[c], comparison.after_us[c], comparison.after_us[c] - comparison.before_us[c]);
  }
  std::string text =
      fmt::format("<h2>Against {}</h2>\n<p>{:.1f} → {:.1f} µs a step ({:+.1f})</p>\n", escape_html(comparison.before),
                  comparison.before_wall_us, comparison.after_wall_us, comparison.after_wall_us - comparison.before_wall_us) +
      table("<th>class</th><th>before</th><th>after</th><th>change</th>", rows);
  rows.clear();
  for (size_t i = 0; i < std::min(comparison.operators.size(), kMaxRows); ++i) {
    const OperatorChange& change = comparison.operators[i];
    rows +=
        fmt::format("<tr>{}{}<td>{:.1f} → {:.1f}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:+.1f}</td></tr>\n", class_cell(change.kind),
                    name_cell(change.name), change.before_calls, change.after_calls, change.before_us, change.after_us, change.change_us());
  }
  return text +
         table("<th>class</th><th style=\"text-align: left\">operator</th><th>calls</th><th>µs before</th><th>after</th><th>change</th>",
               rows);
}

std::string head(const std::vector<Analysis>& ranks) {
  std::string text = "<h1>Where a step's time goes</h1>\n";
  for (const Analysis& analysis : ranks) {
    text +=
        fmt::format("<p>{}, {}, rank {}: {} steps {}, {} whole, <b>{:.1f} µs</b> each</p>\n", escape_html(analysis.input), analysis.format,
                    analysis.rank, analysis.steps.size(), analysis.by_repetition ? "by repetition of kernels" : "by markers",
                    analysis.any_complete ? analysis.counted : 0, per_step(analysis, us(analysis.counted_wall_ns())));
    for (const std::string& warning : warning_texts(analysis)) text += fmt::format("<p class=\"bad\">{}</p>\n", escape_html(warning));
  }
  return text;
}

std::string pictures(const std::vector<Analysis>& ranks, const Json& data) {
  std::string legend, choice, note;
  for (const std::string_view name : kClassNames) legend += fmt::format("<span style=\"--color: var(--{0})\">{0}</span>", name);
  for (const Analysis& analysis : ranks) choice += fmt::format("<option>rank {}</option>", analysis.rank);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t drawn = data["ranks"][i]["drawn_steps"].get<size_t>();
    if (drawn < ranks[i].steps.size()) {
      note +=
          fmt::format("<p class=\"note\">rank {}: the first {} of {} steps are drawn; tables are about all (--steps chooses others)</p>\n",
                      ranks[i].rank, drawn, ranks[i].steps.size());
    }
  }
  return fmt::format(
      "<div class=\"legend\">{}</div>\n<canvas id=\"steps\"></canvas>\n{}"
      "<div class=\"bar\"><select id=\"rank\" {}>{}</select><button id=\"before\" aria-label=\"step before\">◀</button><button "
      "id=\"after\" aria-label=\"step after\">▶</button>"
      "<button id=\"closer\" aria-label=\"closer\">+</button><button id=\"farther\" aria-label=\"farther\">−</button><b "
      "id=\"which\"></b></div>\n"
      "<canvas id=\"timeline\"></canvas>\n<p class=\"note\">A click on a bar shows that step. Drag to move; double click, or turn the "
      "wheel with Shift, to come closer.</p>\n"
      "<div id=\"tip\" hidden></div>\n",
      legend, note, ranks.size() < 2 ? "hidden" : "", choice);
}

}  // namespace

std::string to_html(const std::vector<Analysis>& ranks, const std::optional<Comparison>& against) {
  WebPage page;
  page.title = fmt::format("{}: where a step's time goes", ranks.front().input);
  page.data = {{"classes", kClassNames}, {"ranks", Json::array()}};
  for (const Analysis& analysis : ranks) page.data["ranks"].push_back(timeline_data(analysis, kMaxSlices / ranks.size()));
  page.body = fmt::format("<style>\n{}</style>\n", find_asset("trace.css")) + head(ranks) + pictures(ranks, page.data) + ranks_table(ranks);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Analysis& analysis = ranks[i];
    page.body += fmt::format("<section data-rank=\"{}\" {}>\n", i, i == 0 ? "" : "hidden");
    page.body += classes_table(analysis) + kinds_table(analysis) + operators_table(analysis) + gaps_table(analysis) +
                 collectives_table(analysis) + advice_table(analysis);
    page.body += "</section>\n";
  }
  if (against) page.body += comparison_table(*against);
  page.scripts = {"trace.js"};
  return workbench::to_html(page);
}

}  // namespace teapot::workbench::trace
