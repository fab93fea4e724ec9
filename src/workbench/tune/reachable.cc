#include "workbench/tune/reachable.h"

#include <algorithm>

#include "workbench/tune/joint_move.h"
#include "workbench/tune/search.h"

namespace teapot::workbench {
namespace {

struct Refused {
  const Knob* knob;
  KnobValue value;
  std::string why;
};

}  // namespace

std::vector<std::string> unreachable_values(const Catalogue& catalogue) {
  std::vector<KnobProfile> reached;
  std::vector<Refused> refused;
  for (const Knob& knob : catalogue.knobs) {
    for (size_t i = 1; i < knob.values.size(); ++i) {
      auto there = closure(catalogue, {}, {knob.name, knob.values[i]});
      if (there) {
        reached.push_back(*std::move(there));
      } else {
        refused.push_back({&knob, knob.values[i], std::move(there).error().message});
      }
    }
  }
  std::vector<std::string> lines;
  for (const Refused& each : refused) {
    const auto leads_there = [&](const KnobProfile& from) { return closure(catalogue, from, {each.knob->name, each.value}).has_value(); };
    if (std::ranges::any_of(reached, leads_there)) continue;
    lines.push_back(fmt::format("line {}: {}: {}", each.knob->line, name_of(each.knob->name, each.value), each.why));
  }
  return lines;
}

Status check_defaults(const Catalogue& catalogue, const std::string& source) {
  std::vector<std::string> faults;
  for (const Knob& knob : catalogue.knobs) {
    if (!in_force(knob.default_value())) continue;
    for (const Condition& condition : knob.conflicts) {
      if (condition.holds(catalogue, {}) != Truth::kTrue) continue;
      faults.push_back(fmt::format("{}:{}: the defaults exclude each other: {} conflicts with {}", source, condition.line,
                                   name_of(knob.name, knob.default_value()), condition.text));
    }
  }
  if (faults.empty()) return {};
  return fail(ErrorKind::kInvalid, "{}", fmt::join(faults, "\n"));
}

}  // namespace teapot::workbench
