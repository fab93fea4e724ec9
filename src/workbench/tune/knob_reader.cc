#include "workbench/tune/knob_reader.h"

#include <algorithm>
#include <cmath>

#include "workbench/tune/catalogue_names.h"
#include "workbench/tune/check_form.h"
#include "workbench/tune/condition_reader.h"
#include "workbench/tune/knob_values.h"

namespace teapot::workbench {
namespace {

constexpr double kMostGain = 1e6;

template <class T, size_t N>
Status read_name(const YamlFields& fields, const char* key, const NameTable<T, N>& table, T& value) {
  std::string text;
  TEAPOT_CHECK(fields.read(key, text));
  if (text.empty()) return {};
  const auto at = std::ranges::find(table, text, &std::pair<std::string_view, T>::first);
  if (at == table.end()) {
    std::vector<std::string_view> names;
    for (const auto& entry : table) names.push_back(entry.first);
    return fields.wrong(key, fmt::format("found '{}', expected one of: {}", text, fmt::join(names, ", ")));
  }
  value = at->second;
  return {};
}

// Which of the forms of `set` it is, by its keys.
Status read_set_kind(const YamlFields& set, KnobSet& result) {
  std::vector<std::string_view> places;
  for (const char* key : {"env", "flag", "prefix", "host"}) {
    if (set.has(key)) places.push_back(key);
  }
  if (places.size() != 1)
    return set.wrong("flag", fmt::format("found {} of env, flag, prefix, host ({}), expected one", places.size(), fmt::join(places, ", ")));
  const auto kind = std::ranges::find(kSetKinds, places.front(), &std::pair<std::string_view, SetKind>::first);
  result.kind = kind->second;
  TEAPOT_CHECK(set.read(places.front(), result.name));
  std::string style;
  TEAPOT_CHECK(set.read("style", style));
  TEAPOT_CHECK(set.read("negate", result.negate));
  TEAPOT_CHECK(set.read("json", result.json_key));
  for (const char* key : {"style", "json"}) {
    if (set.has(key) && result.kind != SetKind::kFlag) return set.wrong(key, "is only for a flag");
  }
  if (!style.empty() && style != "switch" && style != "pair")
    return set.wrong("style", fmt::format("found '{}', expected switch or pair", style));
  if (!style.empty() && set.has("json")) return set.wrong("json", "is not for a flag that has a style");
  if (set.has("negate") != (style == "pair")) return set.wrong("negate", "belongs to style: pair, which needs it");
  if (style == "switch") result.kind = SetKind::kSwitch;
  if (style == "pair") result.kind = SetKind::kPair;
  if (set.has("json")) result.kind = SetKind::kJson;
  if (result.kind == SetKind::kJson &&
      (result.json_key.starts_with('.') || result.json_key.ends_with('.') || result.json_key.find("..") != std::string::npos)) {
    return set.wrong("json", fmt::format("found '{}', expected keys like a.b.c", result.json_key));
  }
  return {};
}

Status check_kind(const YamlFields& fields, const Knob& knob) {
  const auto wrong = [&](const char* expected) {
    return fields.wrong("type",
                        fmt::format("found {}, expected {}: it is set by {}", to_string(knob.type), expected, to_string(knob.set.kind)));
  };
  const bool boolean = knob.type == KnobType::kBool, on_off = boolean || knob.type == KnobType::kSwitch;
  const bool text = knob.type == KnobType::kString || knob.type == KnobType::kEnum;
  switch (knob.set.kind) {
    case SetKind::kSwitch:
    case SetKind::kHost:
      return on_off ? Status{} : wrong("switch or bool");
    case SetKind::kPair:
      return boolean ? Status{} : wrong("bool");
    case SetKind::kPrefix:
      return text ? Status{} : wrong("string or enum");
    default:
      return knob.type != KnobType::kSwitch ? Status{} : wrong("a type with a value");
  }
}

Status read_gain(const YamlFields& fields, Knob& knob) {
  const YAML::Node* node = fields.find("gain");
  if (node == nullptr) return {};
  const auto number = [](const YAML::Node& item) {
    const auto value = item.IsScalar() ? number_in(item.Scalar()) : std::nullopt;
    return value && std::abs(*value) <= kMostGain ? value : std::nullopt;
  };
  if (node->IsSequence() && node->size() == 2) {
    const auto low = number((*node)[0]), high = number((*node)[1]);
    if (low && high && *low <= *high) {
      knob.gain = {*low, *high};
      return {};
    }
  }
  return fields.wrong("gain", fmt::format("found {}, expected [low, high] in %", shown(*node)));
}

void read_risk(const YAML::Node& node, const std::string& source, const std::string& what, Knob& knob, std::vector<Error>& faults) {
  const auto risk = YamlFields::of(node, source, what + ": risk", {"text", "note"}, faults);
  if (!risk) return;
  const Faults take(faults);
  take.missing(*risk, "text");
  take(read_name(*risk, "text", kTextRisks, knob.text));
  take(risk->read("note", knob.risk_note));
}

void read_check(const YAML::Node& node, const std::string& source, const std::string& what, Knob& knob, std::vector<Error>& faults) {
  const auto check = YamlFields::of(node, source, what + ": check", {"kind", "what"}, faults);
  if (!check) return;
  const Faults take(faults);
  take.missing(*check, "kind");
  take(read_name(*check, "kind", kCheckKinds, knob.check));
  take(check->read("what", knob.check_what));
  if (check->has("kind") && (knob.check == CheckKind::kNone) == check->has("what"))
    take(check->wrong("what", knob.check == CheckKind::kNone ? "is not for kind: none" : "is missing"));
  if (const auto forms = parse_check(knob.check, knob.check_what); !forms) take(check->wrong("what", forms.error().message));
}

bool is_knob_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

}  // namespace

KnobNode read_knob(const YAML::Node& node, const std::string& source, size_t number, std::vector<Error>& faults) {
  KnobNode result;
  Knob& knob = result.knob;
  knob.line = line_of(node);
  std::string what = fmt::format("knob {}", number);
  if (node.IsMap()) {
    const YAML::Node name = node["name"];
    if (name && name.IsScalar()) what = fmt::format("knob '{}'", name.Scalar());
  }
  result.fields = YamlFields::of(node, source, what,
                                 {"name", "set", "type", "values", "scope", "rank", "restart", "requires", "conflicts", "since", "until",
                                  "effect", "gain", "risk", "check", "inert", "evidence", "verified"},
                                 faults);
  if (!result.fields) return result;
  const YamlFields& fields = *result.fields;
  const Faults take(faults);
  for (const char* key : {"name", "set", "type", "values", "scope", "rank", "restart", "effect", "risk", "check", "evidence", "verified"}) {
    take.missing(fields, key);
  }
  take(fields.read("name", knob.name));
  if (!is_knob_name(knob.name)) take(fields.wrong("name", fmt::format("found '{}', expected letters, digits, _ - .", knob.name)));
  take(read_name(fields, "type", kKnobTypes, knob.type));
  take(read_name(fields, "scope", kKnobScopes, knob.scope));
  take(fields.read("rank", knob.rank, 1, 5));
  take(fields.read("restart", knob.restart));
  take(fields.read("since", knob.since));
  take(fields.read("until", knob.until));
  take(fields.read("effect", knob.effect));
  take(fields.read("inert", knob.inert));
  take(fields.read("verified", knob.verified));
  take(fields.read("evidence", knob.evidence));
  if (fields.has("evidence") && knob.evidence.empty()) take(fields.wrong("evidence", "found an empty list, expected a source"));
  take(read_gain(fields, knob));
  if (const YAML::Node* set = fields.find("set")) {
    const auto set_fields =
        YamlFields::of(*set, source, what + ": set", {"env", "flag", "style", "negate", "json", "prefix", "host"}, faults);
    const Status kind = set_fields ? read_set_kind(*set_fields, knob.set) : Status{};
    take(kind);
    if (set_fields && kind && fields.has("type")) take(check_kind(fields, knob));
  }
  read_values(fields, knob, faults);
  if (const YAML::Node* risk = fields.find("risk")) read_risk(*risk, source, what, knob, faults);
  if (const YAML::Node* check = fields.find("check")) read_check(*check, source, what, knob, faults);
  return result;
}

void read_conditions(const KnobNode& node, const char* key, const Catalogue& catalogue, std::vector<Condition>& conditions,
                     std::vector<Error>& faults) {
  if (!node.fields) return;
  const YamlFields& fields = *node.fields;
  const YAML::Node* list = fields.find(key);
  if (list == nullptr) return;
  const Faults take(faults);
  if (!list->IsSequence()) return take(fields.wrong(key, fmt::format("found {}, expected a list of text", shown(*list))));
  for (const YAML::Node& item : *list) {
    if (!item.IsScalar() || item.Scalar().empty()) {
      take(fields.wrong_at(item, fmt::format("{}: found {}, expected text", key, shown(item))));
      continue;
    }
    Condition condition = parse_condition(item.Scalar(), catalogue, std::string_view(key) == "requires");
    condition.line = line_of(item);
    if (!condition.knob.empty() && condition.knob == node.knob.name) {
      take(fields.wrong_at(item, fmt::format("{}: '{}' names the knob itself", key, condition.text)));
      continue;
    }
    const Knob* knob = condition.knob.empty() ? nullptr : catalogue.find(condition.knob);
    const bool by_value = condition.relation == Relation::kEqual || condition.relation == Relation::kIn;
    if (by_value && !knob->values.empty() && knob->type == KnobType::kEnum &&
        std::ranges::none_of(knob->values, [&](const KnobValue& value) { return condition.would_hold(value); })) {
      take(fields.wrong_at(item, fmt::format("{}: '{}' holds for no value of {}", key, condition.text, knob->name)));
      continue;
    }
    conditions.push_back(std::move(condition));
  }
}

}  // namespace teapot::workbench
