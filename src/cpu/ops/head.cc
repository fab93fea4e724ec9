#include <algorithm>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

HeadOp::HeadOp(const plan::Head& op, Binder& binder)
    : x_(binder.f32(op.x)),
      norm_(binder.vector(op.norm)),
      eps_(op.eps),
      linear_(binder.linear(op.matrix)),
      full_logits_(binder.environment().levers.full_logits) {
  hidden_ = binder.activations(binder.f32(op.hidden), binder.rows(), linear_.int8);
  best_ = binder.scratch<Best>(linear_.tiles(), binder.rows(), 1);
  binder.need_worker_bytes(binder.rows() * linear_.tile_rows * sizeof(float));
}

void HeadOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const std::span<const uint32_t> rows = step.result.rows;
  const size_t asked = rows.size(), vocab = linear_.rows;
  const bool keep_logits =
      full_logits_ || std::ranges::any_of(rows, [&](uint32_t row) { return step.packet.returns[row] == plan::RowReturn::kLogits; });
  const Activations x = hidden_.at(step);
  worker.phase("vocabulary", asked == 0 ? 0 : linear_.tiles(), [&](size_t tile) {
    const size_t first = tile * linear_.tile_rows;
    const size_t last = std::min(first + linear_.tile_rows, vocab);
    float* const logits = keep_logits ? step.logits + first : reinterpret_cast<float*>(worker.scratch());
    const size_t stride = keep_logits ? vocab : last - first;
    linear_.matmul(linear_.weights, linear_.cols, first, last, x, rows.data(), asked, logits, stride);
    for (size_t i = 0; i < asked && !full_logits_; ++i) {
      const int32_t id = step.kernels.argmax(logits + i * stride, last - first);
      best_.row(step, tile)[i] =
          id < 0 ? Best{0, -1} : Best{logits[i * stride + static_cast<size_t>(id)], static_cast<int32_t>(first) + id};
    }
  });
}

void HeadOp::finish(Step& step) const {
  plan::StepResult& result = step.result;
  const size_t vocab = linear_.rows;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    Best best = full_logits_ ? Best{0, step.kernels.argmax(step.logits + i * vocab, vocab)} : best_.row(step, 0)[i];
    for (size_t tile = 1; !full_logits_ && tile < linear_.tiles() && best.id >= 0; ++tile) {
      const Best other = best_.row(step, tile)[i];
      if (other.id < 0 || other.value > best.value) best = other;
    }
    result.argmax[i] = best.id;
    if (step.packet.returns[result.rows[i]] == plan::RowReturn::kLogits) result.logits[i] = {step.logits + i * vocab, vocab};
  }
}

}  // namespace teapot::cpu
