// The page of a search: its tables stand in the HTML, forest, A against A and drift are drawn by assets/tune.js.
#include <cmath>

#include "workbench/bench/conditions.h"
#include "workbench/optional_json.h"
#include "workbench/tune/reports.h"
#include "workbench/web_page.h"

namespace teapot::workbench {
namespace {

std::string move_row(const MoveVerdict& verdict) {
  const bool bad = is_broken(verdict.state);
  std::string reason = verdict.reason;
  if (verdict.evidence) {
    reason += fmt::format("{}in force: {} ({})", reason.empty() ? "" : "; ", kSeenNames[static_cast<size_t>(verdict.evidence->seen)],
                          verdict.evidence->what);
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>\n",
      escape_html(name_of(verdict.knob, verdict.value, verdict.with)),
      verdict.adopted ? "good"
      : bad           ? "bad"
                      : "",
      kMoveStateNames[static_cast<size_t>(verdict.state)], verdict.effect.pairs == 0 ? "" : effect_text(verdict.effect),
      verdict.effect.pairs == 0 ? "" : fmt::format("{}", verdict.effect.pairs), verdict.phase, escape_html(reason));
}

template <class Belongs>
std::string moves_table(std::string_view title, const SearchResult& result, Belongs belongs) {
  std::string rows;
  for (const MoveVerdict& verdict : result.verdicts) {
    if (belongs(verdict)) rows += move_row(verdict);
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<h2>{0}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table>\n<thead><tr><th>setting</th><th>verdict</th>"
      "<th>change (90 % sequence)</th><th>pairs</th><th>when</th><th>why</th></tr></thead>\n<tbody>\n{1}</tbody></table></div>\n",
      title, rows);
}

std::string prune_table(const SearchResult& result) {
  if (result.pruned.empty()) return "";
  std::string out =
      "<h2>Still needed?</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Still "
      "needed\"><table>\n<thead><tr><th>setting</th>"
      "<th>the winner against the simplest without it</th><th>change (90 % sequence)</th><th>pairs</th></tr></thead>\n<tbody>\n";
  for (const PruneVerdict& verdict : result.pruned) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       escape_html(name_of(verdict.knob, verdict.value)),
                       escape_html(fmt::format("{}{}{}", kMoveStateNames[static_cast<size_t>(verdict.state)],
                                               verdict.reason.empty() ? "" : "; ", verdict.reason)),
                       verdict.effect.pairs == 0 ? "" : effect_text(verdict.effect), verdict.effect.pairs);
  }
  return out + "</tbody></table></div>\n";
}

std::string confirmed_table(const Confirmation& confirmation, const std::vector<uint32_t>& parallel) {
  std::string out = fmt::format(
      "<h2>What is confirmed</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What is "
      "confirmed\"><table>\n<thead><tr><th>time</th><th>change ({:g} % Student's t, {} pairs)</th></tr></thead>\n<tbody>\n",
      100 * confirmation.level, confirmation.pairs.pairs);
  for (const auto& [what, change] : confirmed_rows(confirmation, parallel)) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", what, change);
  }
  return out + "</tbody></table></div>\n";
}

std::string profile_list(std::string_view title, const KnobProfile& profile) {
  std::string out = fmt::format("<h2>{}</h2>\n", title);
  if (profile.empty()) return out + "<p>The catalogue's defaults.</p>\n";
  out += "<dl class=\"pairs\">\n";
  for (const auto& [knob, value] : profile) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(knob), escape_html(value.value_or("not set")));
  }
  return out + "</dl>\n";
}

Json forest(const SearchResult& result) {
  Json rows = Json::array();
  for (const MoveVerdict& verdict : result.verdicts) {
    if (verdict.effect.pairs == 0) continue;
    const bool limits = std::isfinite(verdict.effect.half_width);
    rows.push_back({{"name", name_of(verdict.knob, verdict.value)},
                    {"verdict", kMoveStateNames[static_cast<size_t>(verdict.state)]},
                    {"adopted", verdict.adopted},
                    {"mean", verdict.effect.percent()},
                    {"low", limits ? Json(verdict.effect.low_percent()) : Json()},
                    {"high", limits ? Json(verdict.effect.high_percent()) : Json()},
                    {"pairs", verdict.effect.pairs}});
  }
  return rows;
}

Json pairs_data(const SearchResult& result) {
  Json pairs = Json::array();
  for (const PairPoint& point : result.points) {
    pairs.push_back({{"kind", kPairKindNames[static_cast<size_t>(point.kind)]},
                     {"what", point.what},
                     {"minutes", point.elapsed_s / 60},
                     {"percent", change_percent(point.difference)},
                     {"a_ms", point.a_tpot_ms},
                     {"probe_ms", or_null(point.probe_ms)},
                     {"read_gbs", or_null(point.read_gbs)},
                     {"incumbent", point.incumbent}});
  }
  return pairs;
}

constexpr std::string_view kCharts = R"(<h2>What each setting did</h2>
<div class="chart" id="forest-box"><canvas id="forest"></canvas></div>
<h2>Was the ground steady?</h2>
<div class="charts"><div class="chart"><canvas id="null"></canvas></div><div class="chart"><canvas id="drift"></canvas></div>
<div class="chart" id="bandwidth-box"><canvas id="bandwidth"></canvas></div></div>
)";

}  // namespace

std::string tune_html(const TuneSession& session) {
  const SearchResult& result = session.result;
  WebPage page;
  page.title = fmt::format("Tuning {}", session.catalogue.server);
  page.body = fmt::format("<h1>{}</h1>\n<p class=\"{}\">{}</p>\n", escape_html(page.title), result.confirmed() != nullptr ? "good" : "note",
                          escape_html(claim_text(result)));
  page.body += fmt::format("<p class=\"note\">{} {}; {} in {:.0f} minutes.", escape_html(session.catalogue.server),
                           escape_html(result.version), pairs_text(session), result.elapsed_s / 60);
  if (result.smallest_gain) {
    page.body +=
        fmt::format(" A pair's standard deviation was {:.2f} %: gains below about {:.2f} % could not have been found with this budget.",
                    100 * result.null.sd, 100 * *result.smallest_gain);
  }
  page.body += "</p>\n";
  if (const Confirmation* confirmed = result.confirmed()) page.body += confirmed_table(*confirmed, session.settings.search.parallel);
  page.body += html_list("Warnings", result.warnings);
  page.body += moves_table("Adopted", result, [](const MoveVerdict& verdict) { return verdict.adopted; });
  page.body += kCharts;
  page.body += moves_table("Did nothing, or too little, or harm", result,
                           [](const MoveVerdict& verdict) { return !verdict.adopted && verdict.state < MoveState::kInert; });
  page.body += moves_table("Broke, or took no effect", result, [](const MoveVerdict& verdict) { return is_broken(verdict.state); });
  page.body += moves_table("Refused", result, [](const MoveVerdict& verdict) { return verdict.state == MoveState::kRefused; });
  page.body += prune_table(result);
  page.body += profile_list("The profile", result.winner);
  if (result.unconfirmed) page.body += profile_list("The best so far, not confirmed", *result.unconfirmed);
  if (result.simplest != result.winner) page.body += profile_list("The simplest that is as good", result.simplest);
  if (!result.host_notes.empty()) {
    page.body += "<h2>Settings of the machine</h2>\n<p class=\"note\">Never made from here.</p>\n<ul>\n";
    for (const std::string& note : result.host_notes) page.body += "<li>" + escape_html(note) + "</li>\n";
    page.body += "</ul>\n";
  }
  page.body += "<h2>Conditions</h2>\n<dl class=\"pairs\">\n";
  for (const auto& [name, value] : condition_rows(to_json(session.settings))) {
    page.body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  }
  page.body += "</dl>\n";
  page.data = {{"forest", forest(result)}, {"pairs", pairs_data(result)}};
  page.scripts = {"chart.min.js", "still_charts.js", "tune.js"};
  return to_html(page);
}

}  // namespace teapot::workbench
