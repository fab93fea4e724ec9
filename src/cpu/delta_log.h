// What a state keeps of rows that may not hold, so that those which do can be put into the recurrent state later: of each row of a GDN
// layer k, the delta of the recurrence, and alpha.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/arena.h"
#include "plan/plan.h"

namespace teapot::cpu {

class DeltaLog {
 public:
  explicit DeltaLog(const plan::StateLayout& layout)
      : layout_(layout),
        deltas_at_(size_t{layout.key_heads} * layout.dk),
        alphas_at_(deltas_at_ + size_t{layout.value_heads} * layout.dv),
        stride_(align_up(alphas_at_ + layout.value_heads, kAlignment / sizeof(float))) {}

  uint64_t floats() const { return layout_.verify_rows * stride_; }  // of a layer

  // A value head's part of the first row, and the floats from row to row. Value heads of one key head share k.
  struct Head {
    float *k, *delta, *alpha;
    size_t stride;
  };
  Head head(float* rows, uint32_t head) const {
    return {rows + size_t{layout_.key_head(head)} * layout_.dk, rows + deltas_at_ + size_t{head} * layout_.dv, rows + alphas_at_ + head,
            stride_};
  }

 private:
  plan::StateLayout layout_;
  size_t deltas_at_, alphas_at_;  // in a row: k of all key heads, deltas, alphas
  size_t stride_;
};

}  // namespace teapot::cpu
