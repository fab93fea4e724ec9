// The page of a ladder: its tables stand in the HTML, the waterfalls are drawn by assets/ladder.js.
#include "workbench/bench/conditions.h"
#include "workbench/ladder/report.h"
#include "workbench/web_page.h"

namespace teapot::workbench {
namespace {

std::string_view css_class(LadderVerdict verdict) {
  switch (verdict) {
    case LadderVerdict::kWin:
      return "good";
    case LadderVerdict::kLose:
    case LadderVerdict::kBroken:
      return "bad";
    case LadderVerdict::kRefused:
      return "note";
    default:
      return "";
  }
}

std::string table_html(const LadderTable& table, std::string_view title) {
  std::string out =
      fmt::format("<h2>{0}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<thead><tr>", title);
  for (const std::string& head : table.heads) out += fmt::format("<th>{}</th>", escape_html(head));
  out += "</tr></thead>\n<tbody>\n";
  for (const LadderTable::Row& row : table.rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const std::string text = escape_html(row.cells[i]);
      if (i == 0) {
        out += fmt::format("<th scope=\"row\">{}</th>", text);
      } else {
        out += fmt::format("<td class=\"{}\">{}</td>", i + 1 == row.cells.size() ? css_class(row.verdict) : "", text);
      }
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string list_html(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += "<li>" + escape_html(line) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace

std::string ladder_html(const LadderReport& report) {
  const Ladder& ladder = report.found;
  WebPage page;
  page.title = ladder.order.name;
  page.body = fmt::format("<h1>{}</h1>\n<p>{}; {}</p>\n", escape_html(page.title), escape_html(report.model), escape_html(report.way));
  page.body += list_html(ladder_summary(report)) + html_list("Warnings", report.warnings);
  page.body += "<h2>Waterfalls</h2>\n<div class=\"charts\" id=\"waterfalls\"></div>\n";
  page.body +=
      "<p class=\"note\">Each bar spans what its lever changed: the TPOT before all levers times the ratios of the rungs up to it, so that "
      "what the host does between two races is not in it.</p>\n";
  for (const LadderKind kind : {LadderKind::kClimb, LadderKind::kDrop, LadderKind::kWhole, LadderKind::kNull}) {
    const LadderTable table = ladder_table(ladder, kind);
    if (!table.rows.empty()) page.body += table_html(table, ladder_title(kind));
  }
  page.body += fmt::format("<p class=\"note\">{}</p>\n", escape_html(kLadderNote)) + list_html(ladder_notes(ladder));
  page.body += "<h2>Conditions</h2>\n<dl class=\"pairs\">\n";
  for (const auto& [name, value] : condition_rows(report.conditions)) {
    page.body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  }
  page.body += "</dl>\n";
  const Json whole = to_json(report);
  page.data = {{"concurrency", ladder.options.concurrency}, {"waterfall", whole["waterfall"]}, {"others", whole["others"]}};
  page.scripts = {"chart.min.js", "ladder.js"};
  return to_html(page);
}

}  // namespace teapot::workbench
