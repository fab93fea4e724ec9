#include "cli/lever_catalogue.h"

#include <algorithm>

#include "base/json.h"
#include "cli/commands.h"
#include "workbench/assets.h"

namespace teapot::cli {
namespace {

constexpr std::string_view kOwn = "teapot";
constexpr std::string_view kHead = R"(# Levers of teapot serve, as `teapot levers --catalogue` of this version prints them.
server: teapot
version: "{}"
api: openai
metric_prefix: "teapot_"
launch:
  start: "{{teapot}} serve {{model}} --port {{port}}"
  ready: GET /health
  ready_timeout_s: 1800
  settle: plans are prepared and timed before it is ready
  version: GET /version
  config_echo: "GET /v1/status: switches, each with requested, active, reason"
  stop: "SIGTERM, 30 s, then SIGKILL to the process group"
  flush_cache: POST /reset_prefix_cache
  metrics: GET /metrics
  acceptance: teapot_draft_accepted_total / teapot_draft_tokens_total
  mean_accepted: 1 + teapot_draft_accepted_total / teapot_draft_rounds_total
  cache_hits: teapot_prefix_cache_hits_total / teapot_prefix_cache_queries_total
  server_tpot: "vllm:request_time_per_output_token_seconds"
  graph_dispatch: "GET /v1/status: plan_hits, plan_misses"

knobs:
)";

using Options = std::vector<std::pair<std::string, std::string>>;  // name and default, "" where the program says none

Options serve_options() {
  CLI::App app;
  int exit_code = 0;
  add_serve(app, exit_code);
  Options options;
  for (const CLI::Option* option : app.get_subcommand("serve")->get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    options.emplace_back(names.empty() ? option->get_name() : names.front(), option->get_default_str());
  }
  return options;
}

std::string option_default(const Options& options, const std::string& name) {
  return std::ranges::find(options, name, &std::pair<std::string, std::string>::first)->second;
}

Status check(const Json& facts, const Options& options) {
  std::vector<std::string> known;
  for (const Json& lever : facts["levers"]) known.push_back(lever["name"]);
  for (const auto& [name, why] : facts["not_levers"].items()) known.push_back(name);
  for (const auto& [name, fallback] : options) {
    if (std::ranges::count(known, name) != 1)
      return fail(ErrorKind::kInternal, "levers.json: --{} of serve stands there {} times", name, std::ranges::count(known, name));
  }
  for (const std::string& name : known) {
    if (std::ranges::find(options, name, &std::pair<std::string, std::string>::first) == options.end())
      return fail(ErrorKind::kInternal, "levers.json: serve has no --{}", name);
  }
  return {};
}

// The program's default first, then what is worth trying besides.
Json values_of(const Json& lever, const std::string& fallback) {
  const std::string type = lever["type"];
  Json values = Json::array();
  if (type == "switch") {
    values.push_back(false);
  } else if (fallback.empty()) {
    values.push_back(nullptr);
  } else if (type == "int" || type == "float") {
    values.push_back(Json::parse(fallback));
  } else {
    values.push_back(fallback);
  }
  for (const Json& value : lever["values"]) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string effect_of(const Json& lever, const std::vector<plan::SwitchReport>& reports) {
  std::string text = lever["effect"];
  const auto report = std::ranges::find(reports, lever["name"].get<std::string>(), &plan::SwitchReport::name);
  if (report == reports.end()) return text;
  text += fmt::format(". With this model {} is {}", report->requested, report->active);
  if (!report->reason.empty()) text += fmt::format(" ({})", report->reason);
  return text;
}

std::string knob_text(const Json& lever, const std::string& fallback, const std::vector<plan::SwitchReport>& reports) {
  const std::string name = lever["name"], type = lever["type"];
  std::string text = fmt::format("- name: {}\n", name);
  text += fmt::format("  set: {{flag: \"--{}\"{}}}\n", name, type == "switch" ? ", style: switch" : "");
  text += fmt::format("  type: {}\n  values: {}\n", type, dump_json(values_of(lever, fallback)));
  text += fmt::format("  scope: {}\n  rank: {}\n  restart: true\n", lever["scope"].get<std::string>(), lever["rank"].get<int>());
  for (const char* key : {"requires", "conflicts"}) {
    if (lever.contains(key)) text += fmt::format("  {}: {}\n", key, dump_json(lever[key]));
  }
  text += fmt::format("  effect: {}\n", dump_json(effect_of(lever, reports)));
  if (lever.contains("gain")) text += fmt::format("  gain: {}\n", dump_json(lever["gain"]));
  const std::string note = lever.contains("note") ? ", note: " + dump_json(lever["note"]) : "";
  text += fmt::format("  risk: {{text: {}{}}}\n", lever["text"].get<std::string>(), note);
  const std::string place = name == "ctx" ? "context.tokens" : fmt::format("switches.{}.active", name);
  text += fmt::format("  check: {{kind: http, what: \"/v1/status {}\"}}\n", place);
  if (lever.contains("inert")) text += fmt::format("  inert: {}\n", dump_json(lever["inert"]));
  return text + fmt::format("  evidence: {}\n  verified: true\n", dump_json(lever["evidence"]));
}

}  // namespace

Result<std::string> lever_catalogue(const std::vector<plan::SwitchReport>& reports) {
  const Json facts = Json::parse(workbench::find_asset("levers.json"));
  const Options options = serve_options();
  TEAPOT_CHECK(check(facts, options));
  std::string text = fmt::format(kHead, TEAPOT_VERSION);
  for (const Json& lever : facts["levers"]) text += knob_text(lever, option_default(options, lever["name"]), reports);
  return text;
}

Result<workbench::CatalogueText> open_catalogue(const std::string& path_or_name) {
  if (path_or_name != kOwn) return workbench::read_catalogue(path_or_name);
  TEAPOT_TRY(std::string yaml, lever_catalogue({}));
  return workbench::CatalogueText{"teapot.yaml", std::move(yaml)};
}

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names = workbench::shipped_catalogues();
  names.emplace_back(kOwn);
  return names;
}

}  // namespace teapot::cli
