#include <algorithm>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

MtpCombineOp::MtpCombineOp(const plan::MtpCombine& op, Binder& binder)
    : weights_(binder.environment().weights),
      table_(op.table),
      width_(binder.layout().hidden),
      embedding_norm_(binder.vector(op.embedding_norm)),
      hidden_norm_(binder.vector(op.hidden_norm)),
      eps_(op.eps),
      from_step_(op.hidden != plan::kNoBuffer),
      linear_(binder.linear(op.combine)),
      out_(binder.f32(op.out)) {
  if (from_step_) hidden_ = binder.f32(op.hidden);
  in_ = binder.activations(binder.scratch<float>(binder.rows(), 2 * width_), binder.rows(), linear_.int8);
}

// Null: the first token has none, nor has a fork the one before it that its source no longer kept.
const float* MtpCombineOp::hidden_before(const Step& step, size_t row) const {
  const auto [state, position] = step.places[row];
  if (from_step_ && row > 0 && step.places[row - 1].state == state) return hidden_.row(step, row - 1);
  if (position > state->committed()) return state->draft_hidden();  // a guess after a guess
  return position == 0 ? nullptr : state->hidden(position - 1);
}

void MtpCombineOp::begin_row(const Step& step, size_t row, size_t) const {
  float* const embedding = in_.f32.row(step, row);
  float* const hidden = embedding + width_;
  weights_.row(table_, static_cast<size_t>(step.packet.tokens[row]), embedding);
  step.kernels.rms_norm(embedding, embedding_norm_, eps_, width_, embedding);
  if (const float* const before = hidden_before(step, row)) {
    step.kernels.rms_norm(before, hidden_norm_, eps_, width_, hidden);
  } else {
    // Worse drafts, but the same ones each time.
    std::fill_n(hidden, width_, 0.0f);
  }
  in_.f32.clear_padding(step, row);
  in_.quantize(step, row);
}

void MtpCombineOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const Activations x = in_.at(step);
  worker.phase("combine", linear_.tiles(), [&](size_t tile) {
    const size_t first = tile * linear_.tile_rows, last = std::min(first + linear_.tile_rows, linear_.rows);
    linear_.matmul(linear_.weights, linear_.cols, first, last, x, nullptr, step.rows(), out_.data(step) + first, out_.stride);
  });
}

}  // namespace teapot::cpu
