#include "workbench/tune/profile_check.h"

#include <algorithm>

namespace teapot::workbench {

bool counts(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob) {
  const auto at = profile.find(knob.name);
  return at != profile.end() && at->second != knob.default_value() && in_force(value_in(catalogue, profile, knob.name));
}

const Condition* unmet(const Catalogue& catalogue, const KnobProfile& profile, const Knob& knob) {
  const auto at = std::ranges::find_if(knob.requires_, [&](const Condition& c) { return c.holds(catalogue, profile) == Truth::kFalse; });
  return at == knob.requires_.end() ? nullptr : &*at;
}

std::unexpected<Error> refuse(const Knob& knob, const KnobProfile& profile, const std::string& why) {
  return fail(ErrorKind::kUnsupported, "{} = {} {}", knob.name, profile.at(knob.name).value_or("nothing"), why);
}

Status check_profile(const Catalogue& catalogue, const KnobProfile& profile) {
  for (const Knob& knob : catalogue.knobs) {
    if (!counts(catalogue, profile, knob)) continue;
    if (const Condition* condition = unmet(catalogue, profile, knob))
      return refuse(knob, profile, fmt::format("requires {}", condition->text));
    for (const Condition& condition : knob.conflicts) {
      if (condition.holds(catalogue, profile) == Truth::kTrue)
        return refuse(knob, profile, fmt::format("conflicts with {}", condition.text));
    }
    for (const Knob& other : catalogue.knobs) {
      if (&other == &knob) break;
      if (profile.contains(other.name) && same_place(knob.set, other.set))
        return refuse(knob, profile, fmt::format("goes where {} goes: {}", other.name, knob.set.name));
    }
  }
  return {};
}

}  // namespace teapot::workbench
