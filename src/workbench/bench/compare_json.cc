#include <cmath>

#include "base/file.h"
#include "workbench/bench/compare_report.h"

namespace teapot::workbench {
namespace {

constexpr std::array<std::string_view, 6> kEndNames = {"running", "decided", "used up", "null differs", "faults", "interrupted"};

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json ratio_json(const RatioFigures& figures) {
  const PairedFigures& pairs = figures.log_ratio;
  if (pairs.pairs == 0) return {{"pairs", 0}};
  const bool limits = std::isfinite(figures.half_width);
  return {{"pairs", pairs.pairs},
          {"a_ms", figures.a_ms},
          {"b_ms", figures.b_ms},
          {"ratio", figures.ratio()},
          {"low", limits ? Json(figures.low()) : Json()},
          {"high", limits ? Json(figures.high()) : Json()},
          {"ln_e", figures.ln_e},
          {"p", figures.p},
          {"pair_sd", pairs.sd},
          {"lag1", pairs.lag1},
          {"t_low", finite(std::exp(pairs.mean - pairs.half_width))},
          {"t_high", finite(std::exp(pairs.mean + pairs.half_width))}};
}

Json times_json(const TimeFigures& times) { return {{"tpot", ratio_json(times.tpot)}, {"ttft", ratio_json(times.ttft)}}; }

Json replies_json(const ReplyDifference& replies) {
  Json json = {{"compared", replies.compared}, {"different", replies.different}};
  if (replies.first) {
    json["first_character"] = replies.first->character;
    if (replies.first->token) json["first_token"] = *replies.first->token;
    json["a"] = replies.first->a;
    json["b"] = replies.first->b;
  }
  return json;
}

}  // namespace

Json to_json(const CompareReport& report) {
  const Comparison& found = report.found;
  const CompareOptions& options = report.options;
  Json json = {{"name", report.name},
               {"end", kEndNames[static_cast<size_t>(found.end)]},
               {"verdict", kVerdictNames[static_cast<size_t>(found.verdict)]},
               {"text", verdict_text(options, found)}};
  if (found.gate) {
    json["gate"] = {{"target", found.gate->target}, {"passed", found.gate->passed}, {"excluded", found.gate->excluded}};
  }
  json["mean"] = times_json(found.mean);
  json["loads"] = Json::array();
  for (size_t load = 0; load < found.loads.size(); ++load) {
    Json one = {{"parallel", options.parallel[load]}};
    one.update(times_json(found.loads[load]));
    json["loads"].push_back(std::move(one));
  }
  json["null"] = times_json(found.null);
  json["smallest_difference"] = found.smallest_difference ? Json(*found.smallest_difference) : Json();
  json["faulty_pairs"] = found.faulty;
  json["replies"] = replies_json(found.replies);
  json["null_replies"] = replies_json(found.null_replies);
  json["cached_tokens"] = {{"a", found.a_cached_tokens}, {"b", found.b_cached_tokens}};
  json["read_gbs"] = found.read_gbs;
  json["options"] = {{"parallel", options.parallel},
                     {"pairs", options.pairs},
                     {"aa_pairs", options.aa_pairs},
                     {"alpha", options.alpha},
                     {"min_difference", options.min_difference},
                     {"target_ratio", options.target_ratio ? Json(*options.target_ratio) : Json()},
                     {"all_pairs", options.all_pairs},
                     {"seed", options.seed}};
  json["warnings"] = Json::array();
  for (const auto* warnings : {&report.warnings, &found.warnings}) {
    for (const std::string& warning : *warnings) json["warnings"].push_back(warning);
  }
  json["conditions"] = report.conditions;
  return json;
}

Status write_compare_reports(const CompareReport& report, const std::string& folder) {
  TEAPOT_CHECK(write_file(folder + "/compare.json", dump_json(to_json(report)) + "\n"));
  return write_file(folder + "/compare.html", compare_html(report));
}

}  // namespace teapot::workbench
