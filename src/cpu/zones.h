// A worker's memory of its last phases: a fixed ring, written by that worker alone, a few nanoseconds a phase.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "plan/trace.h"

namespace teapot::cpu {

class alignas(64) ZoneRing {
 public:
  // Phases that are remembered: a step of 64 layers has about 400.
  static constexpr size_t kSpans = 1024;

  void clear() { written_ = waited_ = replayed_ = 0; }
  void add(const plan::Span& span) {
    spans_[written_++ % kSpans] = span;
    waited_ += span.waited();
  }

  // Grows by the ticks that logs of accepted tokens took (design 5), inside of phases.
  uint64_t& replayed() { return replayed_; }
  uint64_t replayed() const { return replayed_; }

  size_t written() const { return written_; }
  uint64_t waited() const { return waited_; }  // ticks, of all of them
  void spans(std::vector<plan::Span>& out) const {
    out.clear();
    for (size_t i = written_ - std::min(written_, kSpans); i < written_; ++i) out.push_back(spans_[i % kSpans]);
  }

 private:
  size_t written_ = 0;
  uint64_t waited_ = 0;
  uint64_t replayed_ = 0;
  std::array<plan::Span, kSpans> spans_;
};

}  // namespace teapot::cpu
