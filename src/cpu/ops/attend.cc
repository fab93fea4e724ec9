#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {
AttendOp::AttendOp(const plan::Attend& op, Binder& binder)
    : op_(op),
      head_dim_(binder.layout().head_dim),
      kv_heads_(binder.layout().kv_heads),
      q_(binder.f32(op.q)),
      k_(binder.f32(op.k)),
      v_(binder.f32(op.v)),
      out_(binder.f32(op.out)),
      gated_(op.gate != plan::kNoBuffer),
      q_norm_(binder.vector(op.q_norm)),
      k_norm_(binder.vector(op.k_norm)),
      scale_(1.0f / std::sqrt(static_cast<float>(head_dim_))),
      inv_freq_(binder.constants().inverse_frequencies(op.rope_theta, op.rotary_dim)) {
  if (gated_) gate_ = binder.f32(op.gate);
  // Of a row: cos, sin, a normalised and a rotated head. Of a head: what the attention kernel asks for.
  binder.need_worker_bytes((op.rotary_dim + 2 * head_dim_) * sizeof(float));
  binder.need_worker_bytes((kKvBlock + head_dim_) * sizeof(float));
}

void AttendOp::rotate(const float* x, const float* cos, const float* sin, float* out) const {
  const size_t half = op_.rotary_dim / 2;
  for (size_t j = 0; j < half; ++j) {
    out[j] = x[j] * cos[j] - x[j + half] * sin[j];
    out[j + half] = x[j + half] * cos[j] + x[j] * sin[j];
  }
  std::copy(x + op_.rotary_dim, x + head_dim_, out + op_.rotary_dim);
}

// Norms and rotates a row's heads: q in its buffer, k into the cache with v.
void AttendOp::begin_row(const Step& step, size_t row, size_t worker) const {
  const auto [state, position] = step.places[row];
  float* const cos = reinterpret_cast<float*>(step.worker(worker));
  const size_t half = op_.rotary_dim / 2;
  float* const sin = cos + half;
  float* const normed = sin + half;
  float* const rotated = normed + head_dim_;
  for (size_t j = 0; j < half; ++j) {
    const float angle = static_cast<float>(position) * inv_freq_[j];
    cos[j] = std::cos(angle);
    sin[j] = std::sin(angle);
  }
  for (size_t head = 0; head < op_.heads; ++head) {
    float* const q = q_.row(step, row) + head * head_dim_;
    step.kernels.rms_norm(q, q_norm_, op_.eps, head_dim_, normed);
    rotate(normed, cos, sin, q);
  }
  const size_t width = kv_heads_ * head_dim_;
  const size_t element_bytes = kv_bytes(step.kv_type);
  std::byte* const keys = state->keys(op_.state_layer) + position * width * element_bytes;
  std::byte* const values = state->values(op_.state_layer) + position * width * element_bytes;
  const auto store = step.kernels.store_kv[step.kv_type];
  size_t saturated = store(v_.row(step, row), width, values);
  for (size_t head = 0; head < kv_heads_; ++head) {
    step.kernels.rms_norm(k_.row(step, row) + head * head_dim_, k_norm_, op_.eps, head_dim_, normed);
    rotate(normed, cos, sin, rotated);
    saturated += store(rotated, head_dim_, keys + head * head_dim_ * element_bytes);
  }
  if (saturated != 0) step.saturated.fetch_add(saturated, std::memory_order_relaxed);
}

void AttendOp::attend(const Step& step, size_t row, size_t head, size_t worker) const {
  const auto [state, position] = step.places[row];
  const size_t offset = head / (op_.heads / kv_heads_) * head_dim_ * kv_bytes(step.kv_type);
  float* const out = out_.row(step, row) + head * head_dim_;
  step.kernels.attend[step.kv_type](q_.row(step, row) + head * head_dim_, state->keys(op_.state_layer) + offset,
                                    state->values(op_.state_layer) + offset, position + 1, kv_heads_ * head_dim_, head_dim_, scale_,
                                    reinterpret_cast<float*>(step.worker(worker)), out);
  if (gated_) step.kernels.sigmoid_mul(out, gate_.row(step, row) + head * head_dim_, head_dim_, out);
}

void AttendOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const size_t rows = step.rows();
  // Head by head: those that follow each other read the same keys and values.
  worker.phase("attend", op_.heads * rows, [&](size_t item) { attend(step, item % rows, item / rows, worker.index()); });
}

}  // namespace teapot::cpu
