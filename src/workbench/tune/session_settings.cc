#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "workbench/bench/host_facts.h"
#include "workbench/ledger_fields.h"
#include "workbench/tune/session.h"
#include "workbench/tune/trial_record.h"

namespace teapot::workbench {
namespace {

// Graphics and processing accelerators of the PCI bus: "10de:2335".
Json accelerators() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
    const auto line = [&](const char* file) {
      std::ifstream in(device.path() / file);
      std::string text;
      std::getline(in, text);
      return text;
    };
    const std::string kind = line("class");
    if (!kind.starts_with("0x03") && !kind.starts_with("0x12")) continue;
    const std::string vendor = line("vendor"), id = line("device");
    if (vendor.size() > 2 && id.size() > 2) found.push_back(vendor.substr(2) + ":" + id.substr(2));
  }
  std::ranges::sort(found);
  return found;
}

// An object of names and texts.
template <class Texts>
Status read_texts(const Json& json, const char* field, Texts& texts) {
  TEAPOT_TRY(const Json* found, find_field(json, field));
  if (!found->is_object()) return fail(ErrorKind::kInvalid, "{}: {}; expected an object", field, found->type_name());
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return fail(ErrorKind::kInvalid, "{}.{}: {}; expected text", field, name, value.type_name());
    texts[name] = value.template get<std::string>();
  }
  return {};
}

constexpr std::array<std::string_view, 3> kAllowed = {"same", "may", "lossy"};

Result<SearchOptions> parse_search(const Json& json) {
  SearchOptions search;
  TEAPOT_TRY(const Json* knobs, find_field(json, "knobs"));
  TEAPOT_TRY(const Json* parallel, find_field(json, "parallel"));
  const auto all = [](const Json& list, auto fits) { return list.is_array() && std::ranges::all_of(list, fits); };
  if (!all(*knobs, [](const Json& each) { return each.is_string(); })) return fail(ErrorKind::kInvalid, "knobs: expected a list of names");
  const auto users = [](const Json& each) { return each.is_number_unsigned() && each > 0 && each <= 65'535; };
  if (!all(*parallel, users) || parallel->empty()) return fail(ErrorKind::kInvalid, "parallel: expected a list of numbers of users");
  search.knobs = knobs->get<std::vector<std::string>>();
  search.parallel = parallel->get<std::vector<uint32_t>>();
  TEAPOT_TRY(const Json* base, find_field(json, "base"));
  TEAPOT_TRY(search.base, parse_knob_profile(*base));
  TEAPOT_TRY(search.budget.pairs, count_field(json, "budget_pairs"));
  TEAPOT_TRY(search.budget.seconds, number_field(json, "budget_s"));
  TEAPOT_TRY(search.objective, name_field<Objective>(json, "objective", kObjectiveNames));
  TEAPOT_TRY(search.max_ttft_harm, number_field(json, "max_ttft_harm"));
  TEAPOT_TRY(search.coarsest_resolution, number_field(json, "coarsest_resolution"));
  TEAPOT_TRY(search.allow_text, name_field<TextRisk>(json, "allow_text", kAllowed));
  TEAPOT_TRY(search.seed, count_field(json, "seed"));
  if (json.contains("host_values")) {
    TEAPOT_CHECK(read_texts(json, "host_values", search.host));
  }
  return search;
}

}  // namespace

Result<Json> host_fingerprint() {
  TEAPOT_TRY(const Json facts, host_facts());
  Json host = Json::object();
  for (const char* name : {"cpu", "topology", "cores", "hardware_threads", "cpu_quota", "memory_bytes", "kernel"}) {
    if (facts.contains(name)) host[name] = facts[name];
  }
  host["accelerators"] = accelerators();
  return host;
}

Json to_json(const TuneSettings& settings) {
  const SearchOptions& search = settings.search;
  Json json = {{"teapot", TEAPOT_VERSION},
               {"catalogue", settings.catalogue},
               {"start", settings.start},
               {"fill", settings.fill},
               {"knobs", search.knobs},
               {"base", to_json(search.base)},
               {"budget_pairs", search.budget.pairs},
               {"budget_s", search.budget.seconds},
               {"parallel", search.parallel},
               {"prompt_tokens", settings.prompt_tokens},
               {"output_tokens", settings.output_tokens},
               {"requests_per_user", settings.requests_per_user},
               {"objective", kObjectiveNames[static_cast<size_t>(search.objective)]},
               {"max_ttft_harm", search.max_ttft_harm},
               {"coarsest_resolution", search.coarsest_resolution},
               {"allow_text", kAllowed[static_cast<size_t>(search.allow_text)]},
               {"target", settings.target},
               {"start_timeout_s", settings.start_timeout_s},
               {"read_timeout_s", settings.read_timeout_s},
               {"extra_args", settings.extra_args},
               {"seed", search.seed},
               {"host", settings.host}};
  if (!search.host.empty()) json["host_values"] = search.host;
  return json;
}

Result<TuneSettings> parse_tune_settings(const Json& json) {
  TuneSettings settings;
  TEAPOT_TRY(settings.catalogue, text_field(json, "catalogue"));
  TEAPOT_TRY(settings.start, text_field(json, "start"));
  TEAPOT_CHECK(read_texts(json, "fill", settings.fill));
  TEAPOT_TRY(settings.search, parse_search(json));
  TEAPOT_TRY(settings.prompt_tokens, count_field(json, "prompt_tokens"));
  TEAPOT_TRY(settings.output_tokens, count_field(json, "output_tokens"));
  TEAPOT_TRY(settings.requests_per_user, count_field(json, "requests_per_user"));
  TEAPOT_TRY(settings.target, text_field(json, "target"));
  TEAPOT_TRY(settings.start_timeout_s, count_field(json, "start_timeout_s"));
  TEAPOT_TRY(settings.read_timeout_s, count_field(json, "read_timeout_s"));
  TEAPOT_TRY(const Json* extra, find_field(json, "extra_args"));
  if (!extra->is_object()) return fail(ErrorKind::kInvalid, "extra_args: {}; expected an object", extra->type_name());
  settings.extra_args = *extra;
  TEAPOT_TRY(const Json* host, find_field(json, "host"));
  settings.host = *host;
  return settings;
}

}  // namespace teapot::workbench
