#include "workbench/tune/knob_values.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "workbench/tune/step_values.h"

namespace teapot::workbench {
namespace {

constexpr size_t kMaxValues = 100, kMaxItems = 10'000;

bool plain(const YAML::Node& node) { return node.Tag() != "!"; }  // without quotes
bool is_boolean(const std::string& text) { return text == "true" || text == "false"; }

// items: how many may still come. An alias can make a short text a long list.
Json to_json(const YAML::Node& node, size_t& items) {
  if (items == 0) return {};
  --items;
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& item : node) list.push_back(to_json(item, items));
    return list;
  }
  if (!node.IsScalar()) return {};
  const std::string& text = node.Scalar();
  if (plain(node) && is_boolean(text)) return text == "true";
  if (plain(node) && number_in(text)) {
    if (const auto number = parse_json(text, "number"); number && number->is_number()) return *number;
  }
  return text;
}

// Nothing is wrong with it: an empty text. Else what was expected.
std::string expected_of(const Knob& knob, const YAML::Node& node) {
  if (node.IsNull()) return "";
  if (node.IsSequence()) return knob.type == KnobType::kList ? "" : fmt::format("a value of type {}", to_string(knob.type));
  if (!node.IsScalar()) return "a value";
  const std::vector<std::string> references = references_in(node.Scalar());
  for (const std::string& name : references) {
    if (std::ranges::find(kReferences, name) == kReferences.end()) return fmt::format("one of @{}", fmt::join(kReferences, ", @"));
  }
  const bool worked_out = !references.empty() && knob.type != KnobType::kBool && knob.type != KnobType::kSwitch;
  return worked_out ? "" : expected_of(knob.type, node.Scalar());
}

}  // namespace

std::string expected_of(KnobType type, const std::string& text) {
  switch (type) {
    case KnobType::kBool:
    case KnobType::kSwitch:
      return is_boolean(text) ? "" : "true or false";
    case KnobType::kInt: {
      const auto number = number_in(text);
      return number && *number == std::trunc(*number) ? "" : "a whole number";
    }
    case KnobType::kFloat:
      return number_in(text) ? "" : "a number";
    case KnobType::kList: {
      const auto list = parse_json(text, "value");
      return list && list->is_array() ? "" : "a list";
    }
    default:
      return "";
  }
}

void read_values(const YamlFields& fields, Knob& knob, std::vector<Error>& faults) {
  const YAML::Node* list = fields.find("values");
  if (list == nullptr) return;
  const Faults take(faults);
  if (!list->IsSequence() || list->size() == 0 || list->size() > kMaxValues) {
    const std::string found = list->IsSequence() ? fmt::format("a list of {}", list->size()) : shown(*list);
    return take(fields.wrong("values", fmt::format("found {}, expected a list of 1 to {} values, the default first", found, kMaxValues)));
  }
  for (const YAML::Node& node : *list) {
    const std::string wanted = expected_of(knob, node);
    if (!wanted.empty()) {
      take(fields.wrong_at(node, fmt::format("values: found {}, expected {}", shown(node), wanted)));
      continue;
    }
    KnobValue value;
    bool literal = false;
    if (node.IsSequence()) {
      size_t items = kMaxItems;
      value = dump_json(to_json(node, items));
      if (items == 0) return take(fields.wrong_at(node, "values: a list of too many items"));
      literal = true;
    } else if (!node.IsNull()) {
      value = node.Scalar();
      literal = knob.type == KnobType::kList || (plain(node) && (is_boolean(*value) || number_in(*value)));
    }
    if (std::ranges::find(knob.values, value) != knob.values.end())
      take(fields.wrong_at(node, fmt::format("values: {} stands twice", shown(node))));
    knob.values.push_back(std::move(value));
    knob.literal.push_back(literal);
  }
  const bool off_first = knob.set.kind == SetKind::kSwitch || knob.set.kind == SetKind::kHost;
  if (off_first && !knob.values.empty() && in_force(knob.values.front()))
    take(fields.wrong("values", "found true first, expected the default first: a switch that is left out is false"));
  if (knob.set.kind == SetKind::kPrefix && !knob.values.empty() && knob.values.front())
    take(fields.wrong("values", "expected null first: a prefix that is left out is nothing"));
}

}  // namespace teapot::workbench
