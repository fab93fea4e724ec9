// What every format comes down to: slices on device streams, slices on host threads, markers of steps. All analysis starts here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workbench/trace/names.h"
#include "workbench/trace/rules.h"
#include "workbench/trace/spilled_rows.h"

namespace teapot::workbench::trace {

constexpr int64_t kNoTime = INT64_MIN;  // a launch, an end, that the file does not tell
constexpr uint32_t kNoStep = UINT32_MAX;
constexpr uint32_t kNoStream = UINT32_MAX;

struct DeviceSlice {
  int64_t start = 0, end = 0;  // ns on the clock of the file
  int64_t launch = kNoTime;    // start of the host call that submitted it
  int64_t bytes = -1;          // a weight kernel's inputs and outputs, a copy's or collective's size; -1: not told
  Name name = 0, core = 0;
  uint32_t stream = kNoStream;  // index into Trace::streams
  uint32_t replay = 0;          // of a graph; 0: of none
  uint32_t step = kNoStep;      // index of the marker or, without markers, of the step
  uint32_t device = 0, process = 0;
  Class kind = Class::kUseful;
  bool collective = false;  // the collective itself, as a track of its own shows it
  bool part = false;        // what a device ran for a collective: it belongs to the collective that it lies in
  bool timeless = false;    // the record had neither a start nor a length
};

struct HostSlice {
  int64_t start = 0, end = 0;
  Name name = 0;
  uint32_t thread = 0;  // index into Trace::threads
  uint32_t process = 0;
  Role role = Role::kHost;
};

struct Marker {
  std::string id;  // "": to be numbered
  int64_t start = 0, end = kNoTime;
  uint32_t process = 0;
  std::string kind;          // "decode", "prefill"; "": all are of one
  int64_t page_faults = -1;  // -1: not told
};

struct Pause {
  int64_t start = 0, end = 0;
};

struct Trace {
  std::string format;  // "ascend_pt", "msprof", "kineto", "nsight", "teapot"
  Names names;
  std::vector<std::string> streams, threads;  // as reports call them
  SpilledRows<DeviceSlice> device;
  SpilledRows<HostSlice> host;
  std::vector<Marker> markers;   // by start
  std::vector<Pause> pauses;     // by start: there was nothing to do, which is part of no step
  bool steps_told = false;       // slices came with their step (a column of the CSV): markers have no times
  bool replays_by_step = false;  // `replay` holds a model: kernels of one model within one step are one replay
  std::optional<int64_t> rank;   // what the file says of itself
  std::optional<double> roof_gbps;
  std::string page_faults_by;
};

// The devices of the trace, ascending.
std::vector<uint32_t> devices(const Trace& trace);
// Leaves the slices of one device, and of the processes that launched to it.
void keep_device(Trace& trace, uint32_t device);

}  // namespace teapot::workbench::trace
