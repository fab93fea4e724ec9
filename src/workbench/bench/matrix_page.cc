#include "workbench/bench/matrix_rows.h"
#include "workbench/optional_json.h"
#include "workbench/web_page.h"

namespace teapot::workbench {
namespace {

std::string html_table(const std::vector<MatrixRow>& rows) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>";
  for (const std::string_view head : kMatrixHeads) out += fmt::format("<th>{}</th>", head);
  out += "</tr></thead>\n<tbody>\n";
  for (const MatrixRow& row : rows) {
    out += row.cell->whole() ? "<tr>" : "<tr class=\"bad\">";
    for (const std::string& cell : matrix_fields(row)) out += fmt::format("<td>{}</td>", escape_html(cell));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string to_html(const Matrix& matrix) {
  const std::vector<MatrixRow> rows = matrix_rows(matrix);
  WebPage page;
  page.title = matrix.plan.name;
  page.body =
      "<h1>" + escape_html(matrix.plan.name) + "</h1>\n" + html_table(rows) + fmt::format("<p class=\"note\">{}</p>\n", kMatrixNote);
  page.body += html_list("Not whole", matrix_faults(rows)) + html_list("Warnings", matrix_warnings(rows));
  page.body +=
      "<div id=\"curves\"><h2>Side by side</h2>\n<div class=\"charts\"><div class=\"chart\"><canvas id=\"tpot\"></canvas></div>"
      "<div class=\"chart\"><canvas id=\"ttft\"></canvas></div></div></div>\n";
  page.data = Json{{"rows", Json::array()}};
  for (const MatrixRow& row : rows) {
    page.data["rows"].push_back({{"at", fmt::format("{} c={}", row.load, row.cell->cell.parallel)},
                                 {"server", row.server},
                                 {"ttft", or_null(row.ttft_ms)},
                                 {"tpot", or_null(row.tpot_ms)}});
  }
  page.scripts = {"chart.min.js", "matrix.js"};
  return to_html(page);
}

}  // namespace teapot::workbench
