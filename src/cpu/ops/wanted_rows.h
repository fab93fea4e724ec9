// The rows of the head's matrix that a step asks for, all or a part (StepPacket::head_rows), as if they stood one behind the other.
#pragma once

#include <algorithm>
#include <span>

#include "plan/backend.h"

namespace teapot::cpu {

class WantedRows {
 public:
  // The packet must outlive this.
  WantedRows(const plan::StepPacket& packet, size_t vocab) : all_{0, static_cast<uint32_t>(vocab)}, ranges_(packet.head_rows) {
    if (ranges_.empty()) ranges_ = {&all_, 1};
    for (const plan::HeadRows& range : ranges_) size_ += range.count;
  }
  WantedRows(const WantedRows&) = delete;
  WantedRows& operator=(const WantedRows&) = delete;

  size_t size() const { return size_; }

  // fn(first, last, place) for the pieces of the places [begin, end): the matrix's rows [first, last) stand at `place`. begin must not fall
  // from call to call.
  template <class F>
  void visit(size_t begin, size_t end, F&& fn) {
    while (begin < end) {
      while (begin >= start_ + ranges_[range_].count) start_ += ranges_[range_++].count;
      const plan::HeadRows& range = ranges_[range_];
      const size_t first = range.first + (begin - start_);
      const size_t count = std::min(end - begin, range.first + range.count - first);
      fn(first, first + count, begin);
      begin += count;
    }
  }

 private:
  plan::HeadRows all_;
  std::span<const plan::HeadRows> ranges_;
  size_t size_ = 0;
  size_t range_ = 0, start_ = 0;  // where the last visit ended: a range, and its first place
};

}  // namespace teapot::cpu
