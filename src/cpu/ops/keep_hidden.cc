#include <algorithm>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

void KeepHiddenOp::finish(Step& step) const {
  for (size_t s = 0; s < step.states.size(); ++s) {
    const plan::SequenceRows& rows = step.packet.sequences[s];
    for (uint32_t i = rows.rows - std::min(rows.rows, plan::kHiddenRows); i < rows.rows; ++i) {
      const std::span<const float> hidden{hidden_.row(step, rows.first_row + i), hidden_.cols};
      if (draft_) {
        step.states[s]->keep_draft_hidden(hidden);
      } else {
        step.states[s]->keep_hidden(rows.position + i, hidden);
      }
    }
  }
}

}  // namespace teapot::cpu
