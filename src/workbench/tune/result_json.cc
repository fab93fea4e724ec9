#include <cmath>

#include "base/file.h"
#include "workbench/optional_json.h"
#include "workbench/tune/reports.h"
#include "workbench/tune/trial_record.h"

namespace teapot::workbench {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json effect_json(const Effect& effect) {
  Json json = {{"change_percent", effect.pairs == 0 ? Json() : finite(effect.percent())},
               {"pairs", effect.pairs},
               {"low", effect.pairs == 0 || std::isinf(effect.half_width) ? Json() : finite(effect.low_percent())},
               {"high", effect.pairs == 0 || std::isinf(effect.half_width) ? Json() : finite(effect.high_percent())},
               {"ln_e", effect.ln_e},
               {"lag1", effect.lag1},
               {"loads_percent", Json::array()},
               {"ttft_percent", change_percent(effect.ttft)}};
  for (const double load : effect.loads) json["loads_percent"].push_back(change_percent(load));
  return json;
}

Json verdict_json(const MoveVerdict& verdict) {
  Json json = {{"knob", verdict.knob}, {"value", or_null(verdict.value)}, {"verdict", kMoveStateNames[static_cast<size_t>(verdict.state)]}};
  json.update(effect_json(verdict.effect));
  json["adopted"] = verdict.adopted;
  json["phase"] = verdict.phase;
  if (!verdict.with.empty()) {
    json["with"] = Json::object();
    for (const Assignment& change : verdict.with) json["with"][change.knob] = or_null(change.value);
  }
  if (!verdict.reason.empty()) json["reason"] = verdict.reason;
  if (verdict.evidence) {
    json["evidence"] = {{"seen", kSeenNames[static_cast<size_t>(verdict.evidence->seen)]}, {"what", verdict.evidence->what}};
  }
  return json;
}

Json change_json(const PairedFigures& figures) {
  return {{"change_percent", figures.percent()}, {"low", figures.low_percent()}, {"high", figures.high_percent()}};
}

Json confirmation_json(const Confirmation& confirmation, const std::vector<uint32_t>& parallel) {
  Json json = change_json(confirmation.pairs);
  json["pairs"] = confirmation.pairs.pairs;
  json["level"] = confirmation.level;
  json["moves"] = confirmation.moves;
  json["confirmed"] = confirmation.confirmed();
  json["loads"] = Json::array();
  for (size_t i = 0; i < confirmation.loads.size(); ++i) {
    Json& load = json["loads"].emplace_back(change_json(confirmation.loads[i]));
    load["users"] = parallel[i];
  }
  json["ttft"] = change_json(confirmation.ttft);
  if (!confirmation.harm.empty()) json["harm"] = confirmation.harm;
  return json;
}

}  // namespace

Result<Json> result_json(const TuneSession& session) {
  const SearchResult& result = session.result;
  TEAPOT_TRY(const StartCommand command, command_of(session, result.winner));
  Json json = {{"profile", to_json(result.winner)}, {"args", command.words}, {"env", Json::object()}};
  for (const auto& [name, value] : command.env) json["env"][name] = value;
  const Confirmation* confirmed = result.confirmed();
  const std::vector<uint32_t>& parallel = session.settings.search.parallel;
  json["confirmed"] = confirmed != nullptr ? confirmation_json(*confirmed, parallel)
                                           : Json{{"change_percent", nullptr}, {"low", nullptr}, {"high", nullptr}, {"pairs", 0},
                                                  {"loads", Json::array()},    {"ttft", nullptr}};
  json["verdicts"] = Json::array();
  for (const MoveVerdict& verdict : result.verdicts) json["verdicts"].push_back(verdict_json(verdict));
  json["simplest"] = to_json(result.simplest);
  json["base"] = to_json(result.base);
  if (result.unconfirmed) json["unconfirmed"] = to_json(*result.unconfirmed);
  json["end"] = kSearchEndNames[static_cast<size_t>(result.end)];
  json["end_reason"] = result.end_reason;
  json["claim"] = claim_text(result);
  json["version"] = result.version;
  json["text_gate"] = result.text_gate;
  json["load_text_gate"] = result.load_text_gate;
  json["a_against_a"] = {{"pairs", result.null.pairs},
                         {"sd_percent", 100 * result.null.sd},
                         {"mean_percent", result.null.percent()},
                         {"lag1", result.null.lag1}};
  json["smallest_gain_percent"] = result.smallest_gain ? Json(100 * *result.smallest_gain) : Json();
  json["pairs"] = result.pairs;
  json["elapsed_s"] = result.elapsed_s;
  json["pruned"] = Json::array();
  for (const PruneVerdict& verdict : result.pruned) {
    Json& row = json["pruned"].emplace_back(
        Json{{"knob", verdict.knob}, {"value", or_null(verdict.value)}, {"verdict", kMoveStateNames[static_cast<size_t>(verdict.state)]}});
    row.update(effect_json(verdict.effect));
    if (!verdict.reason.empty()) row["reason"] = verdict.reason;
  }
  json["confirmations"] = Json::array();
  for (const Confirmation& each : result.confirmations) json["confirmations"].push_back(confirmation_json(each, parallel));
  json["warnings"] = result.warnings;
  json["host_notes"] = result.host_notes;
  json["settings"] = to_json(session.settings);
  return json;
}

Status write_tune_reports(const TuneSession& session) {
  TEAPOT_TRY(const Json json, result_json(session));
  TEAPOT_CHECK(write_file(session.folder + "/result.json", json.dump(1) + "\n"));
  TEAPOT_CHECK(write_file(session.folder + "/report.html", tune_html(session)));
  return write_tune_sqlite(session, session.folder + "/ledger.sqlite");
}

}  // namespace teapot::workbench
