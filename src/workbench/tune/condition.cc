#include "workbench/tune/condition.h"

#include <algorithm>
#include <array>

#include "workbench/tune/catalogue.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

bool equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = number_in(a), y = number_in(b);
  return x && y && *x == *y;
}

bool compare(Relation relation, double a, double b) {
  switch (relation) {
    case Relation::kGreater:
      return a > b;
    case Relation::kAtLeast:
      return a >= b;
    case Relation::kLess:
      return a < b;
    default:
      return a <= b;
  }
}

bool holds_for(const Condition& condition, const KnobValue& value) {
  const auto is = [&](const std::string& other) { return value && equal(*value, other); };
  switch (condition.relation) {
    case Relation::kInForce:
      return in_force(value);
    case Relation::kFitsStep:
      return value && !references_in(*value).empty();
    case Relation::kEqual:
    case Relation::kIn:
      return std::ranges::any_of(condition.values, is);
    case Relation::kNotEqual:
      return std::ranges::none_of(condition.values, is);
    default:
      break;
  }
  const auto a = value ? number_in(*value) : std::nullopt, b = number_in(condition.values.front());
  return a && b && compare(condition.relation, *a, *b);
}

}  // namespace

const KnobValue& value_in(const Catalogue& catalogue, const KnobProfile& profile, std::string_view knob) {
  const auto at = profile.find(std::string(knob));
  return at == profile.end() ? catalogue.find(knob)->default_value() : at->second;
}

bool in_force(const KnobValue& value) {
  constexpr std::array<std::string_view, 8> kOff = {"", "false", "off", "none", "no", "disable", "disabled", "[]"};
  if (!value) return false;
  std::string lower = *value;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c); });
  return std::ranges::find(kOff, lower) == kOff.end() && number_in(lower) != 0.0;
}

Truth Condition::holds(const Catalogue& catalogue, const KnobProfile& profile) const {
  if (relation == Relation::kText) return Truth::kUnknown;
  return holds_for(*this, value_in(catalogue, profile, knob)) ? Truth::kTrue : Truth::kFalse;
}

bool Condition::would_hold(const KnobValue& value) const { return holds_for(*this, value); }

}  // namespace teapot::workbench
