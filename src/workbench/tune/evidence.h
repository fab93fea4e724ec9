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
  Counters grown;     // since the server was ready; of the replies reply:draft_n and reply:draft_n_accepted
  std::string model;  // the name of its file
  std::function<std::optional<std::string>(const std::string& file)> process;  // a file of /proc/PID; task/*/ is that of every thread
};

// value: resolved. What isn't in force (off, 0, nothing) leaves no traces but where the value itself is shown, and a check that is prose is
// shown, not judged. What is only parsed or handed over (echo) can say no, but never yes.
Evidence look_for(const Knob& knob, const KnobValue& value, const Sources& sources);

}  // namespace teapot::workbench
