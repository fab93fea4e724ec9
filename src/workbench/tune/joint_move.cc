#include "workbench/tune/joint_move.h"

#include <algorithm>
#include <set>

#include "workbench/tune/profile_check.h"

namespace teapot::workbench {
namespace {

// Sets what `knob` requires, and what that requires. pinned: what this move has set; it is not set again.
Status meet(const Catalogue& catalogue, const Knob& knob, KnobProfile& profile, std::set<std::string>& pinned) {
  if (!counts(catalogue, profile, knob)) return {};
  for (const Condition& condition : knob.requires_) {
    if (condition.holds(catalogue, profile) != Truth::kFalse) continue;
    const Knob& needed = *catalogue.find(condition.knob);
    const auto value = std::ranges::find_if(needed.values, [&](const KnobValue& v) { return condition.would_hold(v); });
    if (value == needed.values.end() || pinned.contains(needed.name))
      return refuse(knob, profile, fmt::format("requires {}", condition.text));
    pinned.insert(needed.name);
    profile[needed.name] = *value;
    TEAPOT_CHECK(meet(catalogue, needed, profile, pinned));
  }
  return {};
}

// Knobs that lost what they require are as they were.
void drop_dependents(const Catalogue& catalogue, const std::set<std::string>& pinned, KnobProfile& profile) {
  const auto lost = [&](const Knob& knob) {
    return !pinned.contains(knob.name) && counts(catalogue, profile, knob) && unmet(catalogue, profile, knob) != nullptr;
  };
  for (auto knob = std::ranges::find_if(catalogue.knobs, lost); knob != catalogue.knobs.end();
       knob = std::ranges::find_if(catalogue.knobs, lost)) {
    profile.erase(knob->name);
  }
}

}  // namespace

KnobProfile canonical(const Catalogue& catalogue, KnobProfile profile) {
  std::erase_if(profile, [&](const auto& entry) {
    const Knob* knob = catalogue.find(entry.first);
    return knob != nullptr && entry.second == knob->default_value();
  });
  return profile;
}

Result<KnobProfile> closure(const Catalogue& catalogue, const KnobProfile& from, const Assignment& move) {
  const Knob* knob = catalogue.find(move.knob);
  if (knob == nullptr) return fail(ErrorKind::kNotFound, "{} has no knob '{}'", catalogue.server, move.knob);
  for (const auto& [name, value] : from) {
    if (catalogue.find(name) == nullptr) return fail(ErrorKind::kNotFound, "{} has no knob '{}'", catalogue.server, name);
  }
  KnobProfile profile = from;
  profile[knob->name] = move.value;
  std::set<std::string> pinned = {knob->name};
  TEAPOT_CHECK(meet(catalogue, *knob, profile, pinned));
  drop_dependents(catalogue, pinned, profile);
  TEAPOT_CHECK(check_profile(catalogue, profile));
  return canonical(catalogue, std::move(profile));
}

std::vector<Assignment> difference(const Catalogue& catalogue, const KnobProfile& from, const KnobProfile& to) {
  std::vector<Assignment> moves;
  for (const Knob& knob : catalogue.knobs) {
    const KnobValue& value = value_in(catalogue, to, knob.name);
    if (value != value_in(catalogue, from, knob.name)) moves.push_back({knob.name, value});
  }
  return moves;
}

}  // namespace teapot::workbench
