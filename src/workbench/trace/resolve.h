// From a Chrome trace to slices: which tracks are devices, which events are work, who launched it. One function a format.
#pragma once

#include "workbench/trace/fault.h"
#include "workbench/trace/raw_trace.h"
#include "workbench/trace/slices.h"

namespace teapot::workbench::trace {

// "ascend_pt", "msprof", "kineto", "teapot" or "unknown", from what was read (of a broken file: so far).
std::string format_of(const RawTrace& raw);

// Takes the raw slices apart as it goes. "unknown format" if the events are of none.
Read<Trace> resolve(RawTrace&& raw, const Rules& rules, const std::string& source);

void resolve_ascend(RawTrace& raw, const Rules& rules, Trace& trace);
void resolve_kineto(RawTrace& raw, const Rules& rules, Trace& trace);
void resolve_own(RawTrace& raw, const Rules& rules, Trace& trace);

// Markers in order of time; where some have ids, those without are left out, and so is what lies within another one.
void order_markers(std::vector<Marker>& markers);

// A host event becomes a marker or a host slice.
class HostTracks {
 public:
  HostTracks(const Rules& rules, Trace& trace) : rules_(rules), trace_(trace) {}

  // Nesting is by thread alone: the processes of one tree share their threads' numbers.
  void add(const RawSlice& slice, Name thread, int64_t base_ns);

 private:
  struct Kind {
    Role role = Role::kHost;
    std::optional<std::string> marker;
  };

  const Rules& rules_;
  Trace& trace_;
  std::unordered_map<Name, Kind> kinds_;        // by name
  std::unordered_map<Name, uint32_t> threads_;  // by "tid"
};

}  // namespace teapot::workbench::trace
