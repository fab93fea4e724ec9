#include "workbench/tune/trial_record.h"

#include <algorithm>

#include "workbench/ledger_fields.h"
#include "workbench/optional_json.h"

namespace teapot::workbench {
namespace {

Json arm_json(const Arm& arm) {
  Json json = {{"fault", kTrialFaultNames[static_cast<size_t>(arm.fault)]}, {"start_s", arm.start_s}, {"loads", Json::array()}};
  if (!arm.what.empty()) json["what"] = arm.what;
  for (const TurnFigures& load : arm.loads) json["loads"].push_back(to_json(load));
  json["hash"] = arm.hash;
  if (arm.probe_ms) json["probe_ms"] = *arm.probe_ms;
  if (!arm.version.empty()) json["version"] = arm.version;
  if (!arm.counters.empty()) json["counters"] = arm.counters;
  json["started"] = arm.started;
  return json;
}

Result<Counters> parse_counts(const Json& json) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "counters: {}; expected an object", json.type_name());
  Counters counters;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) return fail(ErrorKind::kInvalid, "counters: {}: {}; expected a number", name, value.type_name());
    counters[name] = value.get<double>();
  }
  return counters;
}

Result<Arm> parse_arm(const Json& json) {
  Arm arm;
  TEAPOT_TRY(arm.fault, name_field<TrialFault>(json, "fault", kTrialFaultNames));
  if (json.contains("what")) {
    TEAPOT_TRY(arm.what, text_field(json, "what"));
  }
  TEAPOT_TRY(arm.start_s, number_field(json, "start_s"));
  TEAPOT_TRY(const Json* loads, find_field(json, "loads"));
  if (!loads->is_array()) return fail(ErrorKind::kInvalid, "loads: {}; expected an array", loads->type_name());
  for (const Json& load : *loads) {
    TEAPOT_TRY(arm.loads.emplace_back(), parse_turn(load));
  }
  TEAPOT_TRY(arm.hash, text_field(json, "hash"));
  if (json.contains("probe_ms")) {
    TEAPOT_TRY(arm.probe_ms, number_field(json, "probe_ms"));
  }
  if (json.contains("version")) {
    TEAPOT_TRY(arm.version, text_field(json, "version"));
  }
  if (json.contains("counters")) {
    TEAPOT_TRY(arm.counters, parse_counts(json["counters"]));
  }
  if (json.contains("started")) arm.started = json["started"];
  return arm;
}

bool whole(const Arm& arm, size_t loads) {
  return arm.loads.size() == loads &&
         std::ranges::all_of(arm.loads, [](const TurnFigures& load) { return load.tpot_ms > 0 && load.ttft_ms > 0; });
}

}  // namespace

Json to_json(const KnobProfile& profile) {
  Json json = Json::object();
  for (const auto& [knob, value] : profile) json[knob] = or_null(value);
  return json;
}

Json ask_json(const KnobProfile& validated) { return {{"validate", to_json(validated)}}; }

Json ask_json(const PairRequest& request) {
  return {{"pair", kPairKindNames[static_cast<size_t>(request.kind)]},
          {"a", to_json(request.a)},
          {"b", to_json(request.b)},
          {"first", request.b_first ? "b" : "a"},
          {"prompts", request.prompts}};
}

Json to_json(const Validation& validation) {
  Json json = {{"fault", kTrialFaultNames[static_cast<size_t>(validation.fault)]},
               {"what", validation.what},
               {"version", validation.version},
               {"start_s", validation.start_s},
               {"replies", validation.replies},
               {"evidence", Json::array()},
               {"started", validation.started}};
  for (const Evidence& evidence : validation.evidence) {
    json["evidence"].push_back(
        {{"knob", evidence.knob}, {"seen", kSeenNames[static_cast<size_t>(evidence.seen)]}, {"what", evidence.what}});
  }
  if (!validation.notes.empty()) json["notes"] = validation.notes;
  return json;
}

Json to_json(const PairOutcome& outcome) {
  Json json = {{"a", arm_json(outcome.a)}, {"b", arm_json(outcome.b)}};
  if (outcome.read_gbs) json["read_gbs"] = *outcome.read_gbs;
  return json;
}

Result<KnobProfile> parse_knob_profile(const Json& json) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "a profile: {}; expected an object of knobs and values", json.type_name());
  KnobProfile profile;
  for (const auto& [knob, value] : json.items()) {
    if (!value.is_null() && !value.is_string()) return fail(ErrorKind::kInvalid, "{}: {}; expected text or null", knob, value.type_name());
    profile[knob] = value.is_null() ? KnobValue() : KnobValue(value.get<std::string>());
  }
  return profile;
}

Result<Validation> parse_validation(const Json& json) {
  Validation validation;
  TEAPOT_TRY(validation.fault, name_field<TrialFault>(json, "fault", kTrialFaultNames));
  TEAPOT_TRY(validation.what, text_field(json, "what"));
  TEAPOT_TRY(validation.version, text_field(json, "version"));
  TEAPOT_TRY(validation.start_s, number_field(json, "start_s"));
  TEAPOT_TRY(const Json* replies, find_field(json, "replies"));
  if (!replies->is_array() || !std::ranges::all_of(*replies, [](const Json& reply) { return reply.is_string(); })) {
    return fail(ErrorKind::kInvalid, "replies: expected an array of texts");
  }
  for (const Json& reply : *replies) validation.replies.push_back(reply.get<std::string>());
  if (const Json notes = json.value("notes", Json::array()); notes.is_array()) {
    for (const Json& note : notes) validation.notes.push_back(note.is_string() ? note.get<std::string>() : dump_json(note));
  }
  TEAPOT_TRY(const Json* evidence, find_field(json, "evidence"));
  if (!evidence->is_array()) return fail(ErrorKind::kInvalid, "evidence: {}; expected an array", evidence->type_name());
  for (const Json& each : *evidence) {
    Evidence& found = validation.evidence.emplace_back();
    TEAPOT_TRY(found.knob, text_field(each, "knob"));
    TEAPOT_TRY(found.seen, name_field<Seen>(each, "seen", kSeenNames));
    TEAPOT_TRY(found.what, text_field(each, "what"));
  }
  if (json.contains("started")) validation.started = json["started"];
  return validation;
}

Result<PairOutcome> parse_pair_outcome(const Json& json, const std::vector<uint32_t>& parallel) {
  PairOutcome outcome;
  TEAPOT_TRY(const Json* a, find_field(json, "a"));
  TEAPOT_TRY(outcome.a, parse_arm(*a));
  TEAPOT_TRY(const Json* b, find_field(json, "b"));
  TEAPOT_TRY(outcome.b, parse_arm(*b));
  if (json.contains("read_gbs")) {
    TEAPOT_TRY(outcome.read_gbs, number_field(json, "read_gbs"));
  }
  const bool sound = outcome.a.fault == TrialFault::kNone && outcome.b.fault == TrialFault::kNone;
  if (sound && !(whole(outcome.a, parallel.size()) && whole(outcome.b, parallel.size()))) {
    return fail(ErrorKind::kInvalid, "loads: expected those at {} users in both arms, with times above 0", fmt::join(parallel, ", "));
  }
  return outcome;
}

}  // namespace teapot::workbench
