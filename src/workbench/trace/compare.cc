#include "workbench/trace/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace teapot::workbench::trace {
namespace {

double steps_in_us(const Analysis& analysis) { return static_cast<double>(std::max<uint64_t>(analysis.counted, 1)) * 1000; }

}  // namespace

Comparison compare(const Analysis& before, const Analysis& after) {
  Comparison result;
  result.before = before.input;
  result.after = after.input;
  const double before_steps = steps_in_us(before), after_steps = steps_in_us(after);
  result.before_wall_us = static_cast<double>(before.counted_wall_ns()) / before_steps;
  result.after_wall_us = static_cast<double>(after.counted_wall_ns()) / after_steps;
  for (size_t c = 0; c < kClasses; ++c) {
    result.before_us[c] = static_cast<double>(before.counted_ns[c]) / before_steps;
    result.after_us[c] = static_cast<double>(after.counted_ns[c]) / after_steps;
  }
  std::map<std::pair<std::string, Class>, OperatorChange> changes;
  const auto of = [&](const Operator& op) -> OperatorChange& {
    OperatorChange& change = changes[{op.name, op.kind}];
    change.name = op.name;
    change.kind = op.kind;
    return change;
  };
  for (const Operator& op : before.operators) {
    of(op).before_calls = static_cast<double>(op.calls) * 1000 / before_steps;
    of(op).before_us = static_cast<double>(op.ns) / before_steps;
  }
  for (const Operator& op : after.operators) {
    of(op).after_calls = static_cast<double>(op.calls) * 1000 / after_steps;
    of(op).after_us = static_cast<double>(op.ns) / after_steps;
  }
  for (const auto& [key, change] : changes) result.operators.push_back(change);
  std::ranges::sort(result.operators, [](const OperatorChange& a, const OperatorChange& b) {
    const double x = std::abs(a.change_us()), y = std::abs(b.change_us());
    return x != y ? x > y : std::tie(a.name, a.kind) < std::tie(b.name, b.kind);
  });
  return result;
}

Json to_json(const Comparison& comparison) {
  Json classes = Json::object(), operators = Json::array();
  for (size_t c = 0; c < kClasses; ++c) {
    classes[std::string(kClassNames[c])] = {{"before_us", comparison.before_us[c]}, {"after_us", comparison.after_us[c]}};
  }
  for (const OperatorChange& change : comparison.operators) {
    operators.push_back({{"name", change.name},
                         {"class", name_of(change.kind)},
                         {"before_calls", change.before_calls},
                         {"after_calls", change.after_calls},
                         {"before_us", change.before_us},
                         {"after_us", change.after_us}});
  }
  return {{"before", comparison.before},
          {"after", comparison.after},
          {"before_wall_us", comparison.before_wall_us},
          {"after_wall_us", comparison.after_wall_us},
          {"classes", std::move(classes)},
          {"operators", std::move(operators)}};
}

}  // namespace teapot::workbench::trace
