#include <cmath>

#include "workbench/ladder/report.h"
#include "workbench/optional_json.h"

namespace teapot::workbench {
namespace {

constexpr std::array<std::string_view, 4> kEndNames = {"running", "done", "null differs", "interrupted"};

Json figures_json(const RatioFigures& figures) {
  const PairedFigures& pairs = figures.log_ratio;
  const bool limits = std::isfinite(figures.half_width), t = std::isfinite(pairs.half_width);
  return {{"before_ms", figures.a_ms},
          {"after_ms", figures.b_ms},
          {"change_percent", change_percent(pairs.mean)},
          {"low", limits ? Json(change_percent(pairs.mean - figures.half_width)) : Json()},
          {"high", limits ? Json(change_percent(pairs.mean + figures.half_width)) : Json()},
          {"t_low", t ? Json(change_percent(pairs.mean - pairs.half_width)) : Json()},
          {"t_high", t ? Json(change_percent(pairs.mean + pairs.half_width)) : Json()},
          {"pair_sd_percent", 100 * pairs.sd},
          {"lag1", pairs.lag1},
          {"ln_e", figures.ln_e}};
}

Json step_json(const LadderStep& step, const LadderOptions& options) {
  const LadderRace& race = step.race;
  Json json = {{"kind", kLadderKindNames[static_cast<size_t>(race.kind)]}, {"step", step_name(step)}};
  if (!race.lever.empty()) {
    json.update({{"lever", race.lever}, {"from", race.from}, {"to", race.to}, {"active", step.active}, {"reload", race.reload}});
  }
  json.update({{"group", race.group == RungGroup::kMtp ? "mtp" : "decode"},
               {"exact", race.exact},
               {"verdict", kLadderVerdictNames[static_cast<size_t>(step.verdict)]},
               {"reason", step.reason},
               {"pairs", step.mean.log_ratio.pairs},
               {"equal_tokens", or_null(step.equal_tokens)}});
  if (!step.measured()) return json;
  json["mean"] = figures_json(step.mean);
  json["loads"] = Json::array();
  for (size_t load = 0; load < step.loads.size(); ++load) {
    Json one = {{"c", options.concurrency[load]}};
    one.update(figures_json(step.loads[load]));
    json["loads"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

Json to_json(const LadderReport& report) {
  const Ladder& ladder = report.found;
  const LadderOptions& options = ladder.options;
  Json json = {{"name", ladder.order.name},
               {"model", report.model},
               {"end", kEndNames[static_cast<size_t>(ladder.end)]},
               {"summary", ladder_summary(report)},
               {"loading", report.way},
               {"smallest_difference", or_null(ladder.smallest_difference)},
               {"steps", Json::array()},
               {"waterfall", Json::array()},
               {"others", Json::array()}};
  for (const LadderStep& step : ladder.steps) json["steps"].push_back(step_json(step, options));
  for (const LadderLevel& level : waterfall(ladder)) json["waterfall"].push_back({{"step", level.label}, {"tpot_ms", level.ms}});
  for (const OtherLadder& other : ladder.order.others) {
    Json drafts = Json::array();
    for (const auto& [c, ms] : other.with_drafts_ms) drafts.push_back({{"c", c}, {"tpot_ms", ms}});
    json["others"].push_back({{"name", other.name}, {"note", other.note}, {"tpot_ms", other.steps_ms}, {"with_drafts", std::move(drafts)}});
  }
  json["options"] = {{"concurrency", options.concurrency},
                     {"pairs", options.pairs},
                     {"aa_pairs", options.aa_pairs},
                     {"alpha", options.alpha},
                     {"all_races", options.all_races},
                     {"min_difference", options.min_difference},
                     {"drops", options.drops},
                     {"seed", options.seed},
                     {"e_threshold", e_threshold(options, ladder.order)}};
  json["order"] = to_json(ladder.order);
  json["warnings"] = report.warnings;
  json["conditions"] = report.conditions;
  return json;
}

}  // namespace teapot::workbench
