#include "workbench/trace/advice.h"

#include <algorithm>

#include "workbench/assets.h"
#include "workbench/tune/start_command.h"

namespace teapot::workbench::trace {
namespace {

constexpr double kWorthwhile = 5;  // percent of the step
constexpr std::string_view kOurs = "teapot";

const Json& table() {
  static const Json json = Json::parse(find_asset("trace_advice.json"));
  return json;
}

void add_levers(const std::string& server, Class kind, std::vector<Lever>& levers) {
  const Json& of_server = table().at("levers").at(server);
  const auto list = of_server.find(std::string(name_of(kind)));
  if (list == of_server.end()) return;
  for (const Json& entry : *list) {
    Lever lever;
    lever.server = server;
    lever.knob = entry.at("knob").get<std::string>();
    lever.change = entry.at("change").get<std::string>();
    lever.evidence = entry.at("evidence").get<std::string>();
    const Json& expected = entry.at("expected_percent");
    if (!expected.is_null()) lever.expected = {expected.at(0).get<double>(), expected.at(1).get<double>()};
    levers.push_back(std::move(lever));
  }
}

// Without its knobs. The others' catalogues are built in; ours is what this program says of itself.
std::string tune_command(const std::string& server) {
  if (server == kOurs) return "teapot levers --catalogue > teapot.yaml && teapot tune --catalogue teapot.yaml --model MODEL";
  std::string command = "teapot tune --catalogue " + server;
  const auto catalogue = load_catalogue(server);
  if (!catalogue) return command;
  for (const std::string& name : missing_placeholders(catalogue->launch, {}))
    command += name == "model" ? " --model MODEL" : " --fill " + name + "=N";
  return command;
}

}  // namespace

std::string server_of(const Analysis& analysis) {
  if (analysis.format == "teapot") return std::string(kOurs);
  if (analysis.format == "ascend_pt" || analysis.format == "msprof") return "vllm-ascend";
  const bool sglang = std::ranges::any_of(analysis.operators, [](const Operator& op) {
    return op.name.find("sgl_") != op.name.npos || op.name.find("sglang") != op.name.npos;
  });
  return sglang ? "sglang" : "vllm";
}

Advice advise(const Analysis& analysis) {
  Advice advice;
  advice.server = server_of(analysis);
  const double wall = static_cast<double>(analysis.counted_wall_ns());
  if (wall <= 0) return advice;
  std::vector<std::string> knobs;
  for (size_t c = 0; c < kClasses; ++c) {
    ClassAdvice entry;
    entry.kind = static_cast<Class>(c);
    entry.percent = 100 * static_cast<double>(analysis.counted_ns[c]) / wall;
    entry.us = static_cast<double>(analysis.counted_ns[c]) / 1000 / static_cast<double>(analysis.counted);
    if (entry.percent <= kWorthwhile) continue;
    add_levers(advice.server, entry.kind, entry.levers);
    if (advice.server != kOurs) add_levers(std::string(kOurs), entry.kind, entry.levers);
    if (!entry.levers.empty()) advice.classes.push_back(std::move(entry));
  }
  std::ranges::sort(advice.classes, std::greater(), [](const ClassAdvice& entry) { return std::pair(entry.percent, entry.kind); });
  for (const ClassAdvice& entry : advice.classes) {
    for (const Lever& lever : entry.levers) {
      if (lever.server == advice.server && (!lever.expected || lever.expected->first < 0) &&
          std::ranges::find(knobs, lever.knob) == knobs.end())
        knobs.push_back(lever.knob);
    }
  }
  if (!knobs.empty()) {
    advice.tune = tune_command(advice.server) + " --knobs ";
    for (size_t i = 0; i < knobs.size(); ++i) advice.tune += (i == 0 ? "" : ",") + knobs[i];
  }
  return advice;
}

Json to_json(const Advice& advice) {
  Json classes = Json::array();
  for (const ClassAdvice& entry : advice.classes) {
    Json levers = Json::array();
    for (const Lever& lever : entry.levers) {
      Json expected = nullptr;
      if (lever.expected) expected = Json::array({lever.expected->first, lever.expected->second});
      levers.push_back({{"server", lever.server},
                        {"knob", lever.knob},
                        {"change", lever.change},
                        {"expected_percent", std::move(expected)},
                        {"evidence", lever.evidence}});
    }
    classes.push_back(
        {{"class", name_of(entry.kind)}, {"us_per_step", entry.us}, {"percent", entry.percent}, {"levers", std::move(levers)}});
  }
  return {{"server", advice.server}, {"classes", std::move(classes)}, {"tune", advice.tune}};
}

}  // namespace teapot::workbench::trace
