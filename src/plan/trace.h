// What each worker did, and when, during a step: read back after it, for the profiler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teapot::plan {

// A worker's share of a phase: work, then waiting for the others. A phase ends where all workers meet, or where they wait for its work.
struct Span {
  const char* phase;  // "project", "norm"; a literal
  uint32_t op;        // index in the plan
  // The worker ended the phase, maybe with a serial piece between `arrived` and `released`; the others waited there.
  bool serial;
  uint64_t began, arrived, released;  // ticks (base/ticks.h)

  uint64_t waited() const { return serial ? 0 : released - arrived; }
};

// Shares of a step's time, over all workers, 0 to 1.
struct StepShares {
  double waiting = 0;    // for each other
  double replaying = 0;  // tokens accepted earlier, into the recurrent states, and writing the log of those that may not hold (design 5)
};

struct StepTrace {
  uint64_t began = 0, ended = 0;           // ticks, of the whole step on the thread that asked for it
  std::vector<std::string> ops;            // [ops of the plan]: "gdn_step 3", the third of its kind counted from 0
  std::vector<std::vector<Span>> workers;  // [workers], by time; of a step with more phases than a worker remembers, the last ones
  uint64_t dropped = 0;                    // spans that were not remembered
};

}  // namespace teapot::plan
