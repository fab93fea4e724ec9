// Did a setting take effect? What the catalogue says to look at (log, counters, a page of the server, its process), looked at.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "workbench/tune/catalogue.h"
#include "workbench/tune/counters.h"
#include "workbench/tune/trials.h"

namespace teapot::workbench {

// Where to look, while the server runs and after it has had some requests.
struct Sources {
  std::function<std::optional<std::string>(const std::string& target)> get;  // the body of a 200
  std::string log;
  Counters grown;                                                              // since the server was ready
  std::function<std::optional<std::string>(const std::string& file)> process;  // a file of /proc/PID
};

// value: resolved. What isn't in force (off, 0, nothing) leaves no traces but on pages, and a check that is prose is shown, not judged.
Evidence look_for(const Knob& knob, const KnobValue& value, const Sources& sources);

}  // namespace teapot::workbench
