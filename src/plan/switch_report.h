// What became of a switch: nothing is turned on or off silently.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace teapot::plan {

struct SwitchReport {
  std::string name, requested, active, reason;
  std::string default_value = {};
};

// {"name", "requested", "active", "reason", "default"}
Json to_json(const SwitchReport& report);
Json to_json(const std::vector<SwitchReport>& reports);

}  // namespace teapot::plan
