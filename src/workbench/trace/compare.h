// What changed between two traces: classes, and operators paired by name.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

struct OperatorChange {
  std::string name;
  Class kind = Class::kUseful;
  double before_calls = 0, after_calls = 0;  // a step
  double before_us = 0, after_us = 0;        // a step, of the slices themselves
  double change_us() const { return after_us - before_us; }
};

struct Comparison {
  std::string before, after;  // inputs
  double before_wall_us = 0, after_wall_us = 0;
  std::array<double, kClasses> before_us{}, after_us{};
  std::vector<OperatorChange> operators;  // by how much they changed, those of either trace
};

Comparison compare(const Analysis& before, const Analysis& after);
Json to_json(const Comparison& comparison);

}  // namespace teapot::workbench::trace
