// What a knob needs of others, or must not meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teapot::workbench {

struct Catalogue;

// Nothing: the setting is left out. Booleans are "true" and "false", numbers as they are written, lists JSON; "@..." is worked out for
// the machine and the trial (step_values.h).
using KnobValue = std::optional<std::string>;
// Knob -> value. A knob that is not there has its default.
using KnobProfile = std::map<std::string, KnobValue>;

enum class Relation {
  kInForce,   // "name": a value other than nothing, false, off, none, 0 and the empty list
  kFitsStep,  // "name" of a requirement, where the knob has a value by the step's tokens: that value
  kEqual,
  kNotEqual,
  kGreater,
  kAtLeast,
  kLess,
  kAtMost,
  kIn,    // "name in A, B"
  kText,  // anything else: shown, not evaluated
};
enum class Truth { kFalse, kTrue, kUnknown };

struct Condition {
  std::string text;
  Relation relation = Relation::kText;
  std::string knob;                 // empty with kText
  std::vector<std::string> values;  // that it is compared with
  int line = 0;

  // A value that is left out equals nothing and is neither more nor less than anything. kUnknown: kText.
  Truth holds(const Catalogue& catalogue, const KnobProfile& profile) const;
  // With this value of `knob`; not for kText.
  bool would_hold(const KnobValue& value) const;
};

// The profile's value, or the default. The name must be a knob's.
const KnobValue& value_in(const Catalogue& catalogue, const KnobProfile& profile, std::string_view knob);
bool in_force(const KnobValue& value);

}  // namespace teapot::workbench
