// Where steps begin and end: by the trace's markers, or by what repeats.
#pragma once

#include "workbench/trace/fault.h"
#include "workbench/trace/slices.h"

namespace teapot::workbench::trace {

struct Step {
  std::string id;
  int64_t start = 0, end = 0;  // from its first slice to the first slice of the next step: steps tile the time, but for pauses
  bool complete = true;        // the last one ends with its last slice or its marker, and belongs in no mean
  uint64_t device_slices = 0;
  std::string kind;          // as its marker has it
  int64_t page_faults = -1;  // -1: not told
};

struct Steps {
  std::vector<Step> steps;  // by time, at least one
  bool by_repetition = false;
  uint64_t empty_markers = 0;  // nothing was launched during them
};

// trace: repaired. Sets each slice's step to an index into the result. "no device events", "no steps found".
Read<Steps> find_steps(Trace& trace, const Rules& rules, const std::string& source);

// Sets the steps of slices by repetition of their names; returns how many there are, 0 if nothing repeats.
size_t steps_by_repetition(Trace& trace, const Rules& rules);

// "hcom_allReduce__910_7_1" -> "hcom_allReduce_": a collective's name without the numbers of its group and its turn.
std::string_view collective_kind(std::string_view name);

}  // namespace teapot::workbench::trace
