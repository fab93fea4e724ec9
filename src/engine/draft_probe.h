// A sequence whose drafts do not pay makes one now and then, to see whether that has changed. Each has its own clock: what changes is its
// text.
#pragma once

#include <cstdint>

namespace teapot::engine {

class DraftProbe {
 public:
  // The depth of a round for which `chosen` was found best: that, or 1 for a probe.
  uint32_t depth(uint32_t chosen, uint32_t limit);

  // What became of the round's first draft.
  void observe(bool held);

 private:
  // With 16 plain rounds before the first and twice as many after each failure, a reply of 512 tokens makes five in vain: at 0.4 of a plain
  // step each, 0.4 % of its time. Beyond 256 there is nothing left to save.
  static constexpr uint32_t kFirst = 16, kLongest = 256;

  uint32_t wait_ = kFirst;  // plain rounds before the next
  uint32_t plain_ = 0;
  bool probing_ = false;
};

}  // namespace teapot::engine
