// One step, cut at every edge of every slice; each piece goes to one class, so that classes add up to the step's wall time exactly.
#pragma once

#include <functional>

#include "workbench/trace/slices.h"
#include "workbench/trace/steps.h"

namespace teapot::workbench::trace {

enum class Cause : uint8_t {
  kSlice,    // a device slice that runs; index: the slice
  kReplay,   // between kernels of one replay; index: the kernel that ends the gap
  kQueued,   // the device had the work already; index: the kernel that ends the gap
  kLaunch,   // from the call that launched it to its start; index: the kernel
  kHost,     // a host slice; index: the host slice
  kPython,   // no host slice at all
  kUnknown,  // the file has no host events
};

struct Piece {
  int64_t start = 0, end = 0;
  Class kind = Class::kUseful;
  Cause cause = Cause::kSlice;
  uint32_t index = 0;  // into Trace::device or Trace::host

  int64_t ns() const { return end - start; }
};

class Sweep {
 public:
  // trace: repaired, its steps found; both outlive the sweep. Sorts the host's slices by start.
  explicit Sweep(Trace& trace);

  // Steps in their order, each once: memory is what slices of one step take. The pieces come in order of time.
  void step(const Step& step, const std::function<void(const Piece&)>& use);

 private:
  struct Segment {
    int64_t start, end;
    uint32_t slice;  // the innermost one
  };

  void take(const Step& step);
  void flatten();
  void gap(const Step& step, int64_t from, int64_t to, size_t next, const std::function<void(const Piece&)>& use);
  void host_gap(int64_t from, int64_t to, const std::function<void(const Piece&)>& use);

  const Trace& trace_;
  std::vector<uint32_t> device_, host_;  // slices that lie in the step, by start
  size_t next_device_ = 0, next_host_ = 0;
  std::vector<std::vector<Segment>> threads_;  // those with host slices in the step
  std::vector<size_t> cursors_;
  std::vector<uint32_t> ended_;  // slices that end where the gap begins
};

}  // namespace teapot::workbench::trace
