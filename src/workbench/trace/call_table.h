// Host calls by their correlation ids, for the kernels that they launched. As many as kernels, so they are kept as slices are.
#pragma once

#include <cstdint>

#include "workbench/trace/raw_trace.h"
#include "workbench/trace/slices.h"
#include "workbench/trace/spilled_rows.h"

namespace teapot::workbench::trace {

struct Call {
  uint32_t scope = 0;  // within which ids are unique, if they are
  int64_t id = kNoId;
  int64_t start = 0;
  uint32_t process = 0;
  bool replays = false;  // a graph
};

// All calls with one id.
struct Calls {
  int64_t start = kNoTime;  // of the first
  bool replays = false;     // one of them does
  bool known = false;       // there are some, and all of one process
};

class CallTable {
 public:
  void add(const Call& call) { calls_.push_back(call); }
  void finish();  // all are there
  Calls find(uint32_t scope, int64_t id);

 private:
  SpilledRows<Call> calls_;
  size_t at_ = 0;  // where the last look ended
};

}  // namespace teapot::workbench::trace
