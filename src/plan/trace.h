// What each worker did, and when, during a step: read back after it, for the profiler.
#pragma once

#include <cstdint>
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

// What the thread that asked for the step did for it beside the workers' phases.
enum class HostWork : uint8_t {
  kAllocate,  // memory of states, or of a step
  kPlan       // laid out what was not laid out beforehand
};
struct HostSpan {
  HostWork work;
  const char* what;  // a literal
  uint64_t began, ended;
};

// Shares of a step's time, over all workers, 0 to 1.
struct StepShares {
  double waiting = 0;    // for each other
  double replaying = 0;  // tokens accepted earlier, into the recurrent states, and writing the log of those that may not hold (design 5)
};

struct StepTrace {
  uint64_t began = 0, ended = 0;           // ticks, of the whole step on the thread that asked for it
  std::vector<std::vector<Span>> workers;  // [workers], by time; of a step with more phases than a worker remembers, the last ones
  uint64_t dropped = 0;                    // spans that were not remembered
  std::vector<HostSpan> host = {};         // by time; some lie before `began`: the step is not begun before its states have room
};

}  // namespace teapot::plan
