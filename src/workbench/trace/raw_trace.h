// A trace as its JSON holds it, in few bytes an event: what each slice is can only be told when the whole file is read, because the names
// of tracks may come last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "workbench/trace/names.h"
#include "workbench/trace/spilled_rows.h"

namespace teapot::workbench::trace {

constexpr int64_t kNoId = INT64_MIN;
constexpr uint32_t kNoModel = 4294967295;  // Ascend's "no model"

// What starts, lengths and the base may be, so that no sum of three overflows; 2^61 ns after 1970 is 2043.
constexpr int64_t kMaxTime = int64_t{1} << 61;
// Whether differences of such times cannot overflow. Other records are none that a clock wrote.
constexpr bool countable(int64_t start, int64_t end) {
  return start >= -kMaxTime && end <= 2 * kMaxTime && start <= 2 * kMaxTime && end >= -kMaxTime;
}

// A process and a thread of the file: "pid" and "tid" as text, because some are words.
struct Track {
  Name process = 0, thread = 0;
  Name thread_name = 0;  // 0, the empty name: none
};

// What slices of one kind share: few kinds, many slices.
struct Detail {
  Name category = 0;
  Name core = 0;  // "Task Type"
  Name data_type = 0;
  uint32_t model = kNoModel;
  bool replayed = false;  // a node of a graph
  int64_t bytes = -1;     // of a copy, an op or a collective; -1: not told
  int64_t count = -1;     // elements of a collective, page faults of a marker
  int64_t step = kNoId;   // of a marker

  bool operator==(const Detail&) const = default;
};

struct RawSlice {
  int64_t start_ns = 0, length_ns = 0;  // start without the file's base time
  int64_t id = kNoId;                   // correlation or connection
  Name name = 0;
  uint32_t track = 0, detail = 0;
};

struct FlowEnd {
  int64_t id = 0;
  int64_t at_ns = 0;
  uint32_t track = 0;
  bool begins = false;
};

struct Process {
  std::string name, labels;
};

struct RawTrace {
  Names names;  // 0: ""
  std::vector<Track> tracks;
  std::unordered_map<Name, Process> processes;  // by "pid"
  std::vector<Detail> details;
  SpilledRows<RawSlice> slices;
  SpilledRows<FlowEnd> flows;  // host to device only

  bool is_list = false;     // Ascend and msprof write a bare list, the others an object
  bool has_events = false;  // "traceEvents", or a list
  int64_t base_ns = 0;
  std::string own_format;  // "teapot-trace"
  int64_t own_version = 0;
  std::optional<double> roof_gbps;  // our own trace knows it
  std::string page_faults_by;       // so it does who counted them
  std::optional<int64_t> rank;      // "distributedInfo"

  RawTrace() { names.of(""); }
};

}  // namespace teapot::workbench::trace
