// Which levers act on what a step loses most. A table (assets/trace_advice.json) of facts with their sources; nothing is advised without
// the share of the step that was measured.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "workbench/trace/analysis.h"

namespace teapot::workbench::trace {

struct Lever {
  std::string server, knob, change, evidence;
  std::optional<std::pair<double, double>> expected;  // change of TPOT in percent, negative is faster; nullopt: no source has a figure
};

struct ClassAdvice {
  Class kind = Class::kHost;
  double us = 0, percent = 0;  // of a step, as measured
  std::vector<Lever> levers;   // those of the trace's server, then ours
};

struct Advice {
  std::string server;                // whose knobs they are: "vllm-ascend", "vllm", "sglang", "teapot"
  std::vector<ClassAdvice> classes;  // over 5 % of the step, largest first; `useful` and `bandwidth` among them
  std::string tune;                  // a command line, words in capitals to be replaced; "" where no lever of the server applies
};

Advice advise(const Analysis& analysis);
Json to_json(const Advice& advice);

// Who wrote the trace: our own format, or what the names of kernels and markers say.
std::string server_of(const Analysis& analysis);

}  // namespace teapot::workbench::trace
