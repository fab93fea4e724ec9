#include "workbench/tune/condition_reader.h"

#include <algorithm>

#include "workbench/tune/step_values.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

struct Operator {
  std::string_view text;
  Relation relation;
};
constexpr Operator kOperators[] = {{"!=", Relation::kNotEqual}, {">=", Relation::kAtLeast}, {"<=", Relation::kAtMost},
                                   {"=", Relation::kEqual},     {">", Relation::kGreater},  {"<", Relation::kLess}};

bool is_value_of(const Knob& knob, std::string_view text) { return std::ranges::find(knob.values, KnobValue(text)) != knob.values.end(); }
bool is_word(std::string_view text) { return !text.empty() && text.find(' ') == text.npos; }

// What stands behind a knob's name; kText if it is neither an operator with a value, nor a list.
void read_rest(const Knob& knob, std::string_view rest, Condition& condition) {
  if (rest.starts_with("in ")) {
    for (std::string_view list = rest.substr(3); !list.empty();) {
      const size_t comma = std::min(list.find(','), list.size());
      const std::string_view value = trimmed(list.substr(0, comma));
      if (!is_word(value)) return;
      condition.values.emplace_back(value);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    if (!condition.values.empty()) condition.relation = Relation::kIn;
    return;
  }
  const auto op = std::ranges::find_if(kOperators, [&](const Operator& o) { return rest.starts_with(o.text); });
  if (op == std::end(kOperators)) return;
  const std::string_view value = trimmed(rest.substr(op->text.size()));
  const bool by_size = op->relation != Relation::kEqual && op->relation != Relation::kNotEqual;
  if (by_size ? !number_in(value).has_value() : !is_word(value) && !is_value_of(knob, value)) return;
  condition.relation = op->relation;
  condition.values = {std::string(value)};
}

}  // namespace

Condition parse_condition(const std::string& text, const Catalogue& catalogue, bool required) {
  Condition condition;
  condition.text = text;
  const std::string_view all = trimmed(text);
  const std::string_view name = all.substr(0, all.find_first_of(" =!<>"));
  const Knob* knob = catalogue.find(name);
  if (knob == nullptr) return condition;
  const std::string_view rest = trimmed(all.substr(name.size()));
  if (rest.empty()) {
    condition.relation = Relation::kInForce;
  } else {
    read_rest(*knob, rest, condition);
  }
  const bool fits = condition.relation == Relation::kInForce || (condition.relation == Relation::kText && rest.starts_with('='));
  if (required && fits && follows_step(*knob)) condition.relation = Relation::kFitsStep;
  if (condition.relation == Relation::kText) {
    condition.values.clear();
  } else {
    condition.knob = knob->name;
  }
  return condition;
}

}  // namespace teapot::workbench
