// Catalogues from YAML: everything that is wrong with one is told at once.
#include <algorithm>

#include "workbench/tune/catalogue_names.h"
#include "workbench/tune/condition_reader.h"
#include "workbench/tune/knob_reader.h"
#include "workbench/tune/shell_words.h"
#include "workbench/yaml_text.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMaxBytes = 4 << 20, kMaxKnobs = 2000, kMaxFaults = 100;
constexpr uint64_t kMaxSeconds = 7 * 86'400;

void read_launch(const YAML::Node& node, const std::string& source, Launch& launch, std::vector<Error>& faults) {
  const auto fields = YamlFields::of(node, source, "launch",
                                     {"start",
                                      "env",
                                      "ready",
                                      "ready_timeout_s",
                                      "settle",
                                      "version",
                                      "config_echo",
                                      "stop",
                                      "flush_cache",
                                      "metrics",
                                      "acceptance",
                                      "mean_accepted",
                                      "accepted_per_position",
                                      "cache_hits",
                                      "preemptions",
                                      "server_tpot",
                                      "graph_dispatch",
                                      "start_note",
                                      "ready_note",
                                      "stop_note",
                                      "version_more"},
                                     faults);
  if (!fields) return;
  Faults take(faults);
  const std::pair<const char*, std::string*> texts[] = {{"start", &launch.start},
                                                        {"ready", &launch.ready},
                                                        {"settle", &launch.settle},
                                                        {"version", &launch.version},
                                                        {"config_echo", &launch.config_echo},
                                                        {"stop", &launch.stop},
                                                        {"flush_cache", &launch.flush_cache},
                                                        {"metrics", &launch.metrics},
                                                        {"acceptance", &launch.acceptance},
                                                        {"mean_accepted", &launch.mean_accepted},
                                                        {"accepted_per_position", &launch.accepted_per_position},
                                                        {"cache_hits", &launch.cache_hits},
                                                        {"preemptions", &launch.preemptions},
                                                        {"server_tpot", &launch.server_tpot},
                                                        {"graph_dispatch", &launch.graph_dispatch},
                                                        {"start_note", &launch.start_note},
                                                        {"ready_note", &launch.ready_note},
                                                        {"stop_note", &launch.stop_note},
                                                        {"version_more", &launch.version_more}};
  for (const auto& [key, text] : texts) take(fields->read(key, *text));
  take(fields->read("ready_timeout_s", launch.ready_timeout_s, 1, kMaxSeconds));
  for (const char* key : {"start", "ready"}) take.missing(*fields, key);
  if (const auto words = split_words(launch.start); !words) {
    take(fields->wrong("start", words.error().message));
  } else if (words->empty() && !launch.start.empty()) {
    take(fields->wrong("start", "expected a command"));
  }
  if (!launch.ready.empty() && !launch.ready.starts_with("GET /"))
    take(fields->wrong("ready", fmt::format("found '{}', expected GET and a path: GET /health", launch.ready)));
  const YAML::Node* env = fields->find("env");
  if (env == nullptr) return;
  if (!env->IsMap()) return take(fields->wrong("env", fmt::format("found {}, expected a mapping of variables", shown(*env))));
  for (const auto& variable : *env) {
    if (!variable.first.IsScalar() || !variable.second.IsScalar() || variable.first.Scalar().empty()) {
      take(fields->wrong_at(variable.first, fmt::format("env: found {}, expected a name and a text", shown(variable.second))));
    } else if (std::ranges::find(launch.env, variable.first.Scalar(), &std::pair<std::string, std::string>::first) != launch.env.end()) {
      take(fields->wrong_at(variable.first, fmt::format("env: {} stands twice", variable.first.Scalar())));
    } else {
      launch.env.emplace_back(variable.first.Scalar(), variable.second.Scalar());
    }
  }
}

void read_gone(const YamlFields& fields, const std::string& source, Catalogue& catalogue, std::vector<Error>& faults) {
  const YAML::Node* list = fields.find("gone");
  if (list == nullptr) return;
  Faults take(faults);
  if (!list->IsSequence()) return take(fields.wrong("gone", fmt::format("found {}, expected a list", shown(*list))));
  for (const YAML::Node& node : *list) {
    const auto entry = YamlFields::of(node, source, fmt::format("gone {}", catalogue.gone.size() + 1), {"name", "why", "evidence"}, faults);
    if (!entry) continue;
    Gone gone;
    gone.line = line_of(node);
    take(entry->read("name", gone.name));
    take(entry->read("why", gone.why));
    take(entry->read("evidence", gone.evidence));
    for (const char* key : {"name", "why", "evidence"}) take.missing(*entry, key);
    if (catalogue.find(gone.name) != nullptr)
      take(entry->wrong("name", fmt::format("'{}' is a knob of this file: it cannot be gone", gone.name)));
    catalogue.gone.push_back(std::move(gone));
  }
}

// Keys of one JSON option that are each other's beginning: a value cannot be an object too.
void check_json_keys(const Catalogue& catalogue, const std::string& source, std::vector<Error>& faults) {
  for (const Knob& knob : catalogue.knobs) {
    for (const Knob& other : catalogue.knobs) {
      if (knob.set.kind != SetKind::kJson || other.set.kind != SetKind::kJson || knob.set.name != other.set.name) continue;
      if (other.set.json_key.starts_with(knob.set.json_key + ".")) {
        faults.push_back(
            {ErrorKind::kInvalid, fmt::format("{}:{}: knob '{}': the JSON key '{}' lies within '{}', the value of knob '{}'", source,
                                              other.line, other.name, other.set.json_key, knob.set.json_key, knob.name)});
      }
    }
  }
}

void read_knobs(const YamlFields& fields, const std::string& source, Catalogue& catalogue, std::vector<Error>& faults) {
  const YAML::Node* list = fields.find("knobs");
  if (list == nullptr) return;
  if (!list->IsSequence() || list->size() == 0 || list->size() > kMaxKnobs) {
    Faults{faults}(fields.wrong("knobs", fmt::format("found {}, expected a list of 1 to {} knobs", shown(*list), kMaxKnobs)));
    return;
  }
  std::vector<KnobNode> nodes;
  for (const YAML::Node& node : *list) {
    KnobNode knob = read_knob(node, source, catalogue.knobs.size() + 1, faults);
    const Knob* same = catalogue.find(knob.knob.name);
    if (same != nullptr && !same->name.empty())
      Faults{faults}(fields.wrong_at(node, fmt::format("knob '{}' stands twice: first in line {}", same->name, same->line)));
    catalogue.knobs.push_back(knob.knob);
    nodes.push_back(std::move(knob));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {  // now that all names are known
    read_conditions(nodes[i], "requires", catalogue, catalogue.knobs[i].requires_, faults);
    read_conditions(nodes[i], "conflicts", catalogue, catalogue.knobs[i].conflicts, faults);
  }
  check_json_keys(catalogue, source, faults);
}

Catalogue read_catalogue(const YAML::Node& root, const std::string& source, std::vector<Error>& faults) {
  Catalogue catalogue;
  const auto fields = YamlFields::of(root, source, "catalogue",
                                     {"server", "version", "api", "metric_prefix", "flag_style", "launch", "knobs", "gone"}, faults);
  if (!fields) return catalogue;
  Faults take(faults);
  for (const char* key : {"server", "version", "api", "metric_prefix", "launch", "knobs"}) take.missing(*fields, key);
  take(fields->read("server", catalogue.server));
  take(fields->read("version", catalogue.version));
  take(fields->read("api", catalogue.api));
  if (!catalogue.api.empty() && catalogue.api != "openai")
    take(fields->wrong("api", fmt::format("found '{}', expected openai", catalogue.api)));
  if (const YAML::Node* prefix = fields->find("metric_prefix"); prefix != nullptr) {  // empty where names have none
    if (prefix->IsScalar()) {
      catalogue.metric_prefix = prefix->Scalar();
    } else {
      take(fields->wrong("metric_prefix", fmt::format("found {}, expected text", shown(*prefix))));
    }
  }
  std::string style = "equals";
  take(fields->read("flag_style", style));
  if (style != "equals") take(fields->wrong("flag_style", fmt::format("found '{}', expected equals", style)));
  catalogue.flag_equals = fields->has("flag_style");
  if (const YAML::Node* launch = fields->find("launch")) read_launch(*launch, source, catalogue.launch, faults);
  read_knobs(*fields, source, catalogue, faults);
  read_gone(*fields, source, catalogue, faults);
  return catalogue;
}

}  // namespace

Result<Catalogue> parse_catalogue(std::string_view yaml, const std::string& source) {
  if (yaml.size() > kMaxBytes) return fail(ErrorKind::kInvalid, "{}: {} bytes, expected at most {}", source, yaml.size(), kMaxBytes);
  return with_yaml(yaml, source, [&](const YAML::Node& root) -> Result<Catalogue> {
    std::vector<Error> faults;
    Catalogue catalogue = read_catalogue(root, source, faults);
    if (faults.empty()) return catalogue;
    std::string text;
    for (size_t i = 0; i < std::min(faults.size(), kMaxFaults); ++i) text += (i == 0 ? "" : "\n") + faults[i].message;
    if (faults.size() > kMaxFaults) text += fmt::format("\n{}: {} more", source, faults.size() - kMaxFaults);
    return fail(ErrorKind::kInvalid, "{}", text);
  });
}

}  // namespace teapot::workbench
