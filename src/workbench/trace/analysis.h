// What is known of one rank's steps: classes of each step, and over all whole steps the operators, gaps and collectives behind them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/repairs.h"
#include "workbench/trace/slices.h"
#include "workbench/trace/steps.h"
#include "workbench/trace/sweep.h"

namespace teapot::workbench::trace {

using ClassTimes = std::array<int64_t, kClasses>;  // ns; adds up to the step's wall time

struct StepTimes {
  Step step;
  ClassTimes ns{};
  std::optional<int64_t> weight_bytes;  // of the weight kernels with known shapes

  int64_t wall_ns() const { return step.end - step.start; }
  // weight_bytes over the time that class bandwidth owns, over the roof.
  std::optional<double> roof_percent(std::optional<double> roof_gbps) const;
};

// Device slices of one name and class, over the counted steps.
struct Operator {
  std::string name;
  Class kind = Class::kUseful;
  uint64_t calls = 0;
  int64_t ns = 0;        // of the slices themselves
  int64_t owned_ns = 0;  // of the steps' time: what nothing more essential hid
  int64_t bytes = 0;     // of the calls that know them
  int64_t bytes_ns = 0;  // how long those took
};

// Idle time of the device with one cause.
struct Gap {
  Class kind = Class::kHost;
  Cause cause = Cause::kPython;
  std::string name;  // the host call that filled it, or the kernel that was launched
  uint64_t count = 0;
  int64_t ns = 0;
};

struct Collective {
  std::string name;    // without the numbers of group and turn
  int64_t bytes = -1;  // of one call; -1: not told
  uint64_t calls = 0;
  int64_t ns = 0;
  int64_t exposed_ns = 0;  // that no computation hid
};

// Each call of a collective in a counted step, by time: what ranks compare.
struct CollectiveCall {
  std::string name, step_id;
  uint32_t turn = 0;  // the how many-th of that name in its step
  int64_t ns = 0;
};

struct Analysis {
  std::string format, input;  // input: the last part of the path that was given
  int64_t rank = 0;
  std::optional<uint32_t> device;  // where the file holds several
  std::optional<double> roof_gbps;
  bool by_repetition = false;
  std::vector<StepTimes> steps;
  Repairs repairs;
  std::vector<std::string> warnings;
  uint64_t empty_markers = 0;
  // Over the whole steps; over all where none is whole.
  uint64_t counted = 0;
  ClassTimes counted_ns{};
  std::vector<Operator> operators;      // by owned time
  std::vector<Gap> gaps;                // by time
  std::vector<Collective> collectives;  // by time
  std::vector<CollectiveCall> collective_calls;
  std::string page_faults_by;
  int64_t pauses_ns = 0;  // between steps, with nothing to do
  // Of our own trace: what workers waited for each other, all together, whether the others worked or not.
  int64_t barrier_ns = 0;
  size_t workers = 0;
  Trace trace;  // what was analysed, for timelines; empty unless it was asked for

  ClassTimes total_ns() const;  // of all steps
  int64_t counted_wall_ns() const;
  bool counts(const StepTimes& step) const { return step.step.complete || !any_complete; }
  bool any_complete = false;
};

struct AnalysisOptions {
  std::optional<double> roof_gbps;                   // else what the trace says of itself
  std::optional<std::pair<int64_t, int64_t>> steps;  // ids, both included
  bool keep_trace = false;
};

// trace: of one device.
Read<Analysis> analyse(Trace trace, const Rules& rules, const AnalysisOptions& options, const std::string& source);

// For reports: what a cause is called; "launch of", "python".
std::string_view name_of(Cause cause);

}  // namespace teapot::workbench::trace
