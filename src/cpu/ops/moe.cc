#include <algorithm>
#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

MoeOp::MoeOp(const plan::Moe& op, Binder& binder)
    : experts_count_(op.expert_count),
      experts_(binder.i32(op.experts)),
      weights_(binder.f32(op.weights)),
      residual_(binder.f32(op.residual)),
      routed_{binder.linear(op.gate), binder.linear(op.up)},
      down_(binder.linear(op.down)),
      shared_{binder.linear(op.shared_gate), binder.linear(op.shared_up)},
      shared_down_(binder.linear(op.shared_down)),
      shared_sigmoid_(binder.linear(op.shared_sigmoid)) {
  const size_t rows = binder.rows();
  top_k_ = experts_.cols;
  width_ = routed_.gate.rows / experts_count_;
  // Tiles do not cross from one expert to the next.
  routed_.gate.tile_rows = std::min(routed_.gate.tile_rows, align_up(width_, kQuantBlock));
  in_ = binder.activations(binder.f32(op.normed), rows, routed_.int8() || shared_.int8() || shared_sigmoid_.int8);
  hidden_ = binder.activations(binder.scratch<float>(rows * top_k_, width_), rows * top_k_, down_.int8);
  binder.need_worker_bytes(routed_.worker_bytes(rows));
  if (shared_) {
    shared_hidden_ = binder.activations(binder.scratch<float>(rows, shared_.gate.rows), rows, shared_down_.int8);
    shared_weight_ = binder.scratch<float>(1, rows);
    binder.need_worker_bytes(shared_.worker_bytes(rows));
  }
  touched_ = binder.scratch<uint32_t>(1, experts_count_);
  group_start_ = binder.scratch<uint32_t>(1, experts_count_ + 1);
  token_of_ = binder.scratch<uint32_t>(1, rows * top_k_);
  pair_of_ = binder.scratch<uint32_t>(1, rows * top_k_);
  place_of_pair_ = binder.scratch<uint32_t>(1, rows * top_k_);
  // Small tiles: one claim reads its rows of all touched experts.
  down_tile_rows_ = std::clamp<size_t>(residual_.cols / (8 * binder.environment().workers) / 16 * 16, 16, 64);
  binder.need_worker_bytes((rows * (top_k_ + 1) + 1) * down_tile_rows_ * sizeof(float));
}

// Sorts the (token, rank) pairs by expert, tokens ascending. Returns how many experts are touched.
size_t MoeOp::group(Step& step) const {
  uint32_t* const start = group_start_.data(step);
  uint32_t* const touched = touched_.data(step);
  std::fill_n(start, experts_count_ + 1, 0u);
  for (size_t token = 0; token < step.rows(); ++token) {
    for (size_t rank = 0; rank < top_k_; ++rank) ++start[experts_.row(step, token)[rank] + 1];
  }
  size_t count = 0;
  for (size_t e = 0; e < experts_count_; ++e) {
    if (start[e + 1] != 0) touched[count++] = static_cast<uint32_t>(e);
    start[e + 1] += start[e];
  }
  // Places are given out by moving each start to its end; afterwards the starts are the ends of the experts before.
  for (size_t token = 0; token < step.rows(); ++token) {
    for (size_t rank = 0; rank < top_k_; ++rank) {
      const uint32_t place = start[experts_.row(step, token)[rank]]++;
      const auto pair = static_cast<uint32_t>(token * top_k_ + rank);
      token_of_.data(step)[place] = static_cast<uint32_t>(token);
      pair_of_.data(step)[place] = pair;
      place_of_pair_.data(step)[pair] = place;
    }
  }
  std::copy_backward(start, start + experts_count_, start + experts_count_ + 1);
  start[0] = 0;
  return count;
}

// Rows [first, last) of every touched expert's down matrix and of the shared one's, summed into the residual.
void MoeOp::add_up(const Step& step, size_t touched, size_t first, size_t last, size_t worker) const {
  const size_t rows = step.rows(), count = last - first;
  const uint32_t* const start = group_start_.data(step);
  float* const routed = reinterpret_cast<float*>(step.worker(worker));  // [rows * top_k, count], grouped by expert
  float* const shared = routed + rows * top_k_ * count;                 // [rows, count]
  float* const sum = shared + rows * count;                             // [count]
  const Activations hidden = hidden_.at(step);
  for (size_t i = 0; i < touched; ++i) {
    const uint32_t expert = touched_.data(step)[i];
    const size_t begin = start[expert];
    down_.matmul(down_.weights, down_.cols, expert * residual_.cols + first, expert * residual_.cols + last, hidden,
                 pair_of_.data(step) + begin, start[expert + 1] - begin, routed + begin * count, count);
  }
  if (shared_) {
    shared_down_.matmul(shared_down_.weights, shared_down_.cols, first, last, shared_hidden_.at(step), nullptr, rows, shared, count);
  }
  for (size_t row = 0; row < rows; ++row) {
    std::fill_n(sum, count, 0.0f);
    for (size_t rank = 0; rank < top_k_; ++rank) {
      const size_t place = place_of_pair_.data(step)[row * top_k_ + rank];
      step.kernels.add_scaled(routed + place * count, weights_.row(step, row)[rank], count, sum);
    }
    if (shared_) step.kernels.add_scaled(shared + row * count, shared_weight_.data(step)[row], count, sum);
    step.kernels.add_scaled(sum, 1.0f, count, residual_.row(step, row) + first);
  }
}

void MoeOp::run(Step& step) const {
  const size_t rows = step.rows();
  if (in_.int8) {
    step.for_rows(rows, in_.f32.cols, [&](size_t row, size_t) { in_.quantize(step, row); });
  }
  const size_t touched = group(step);
  touched_last_ = static_cast<uint32_t>(touched);
  const uint32_t* const start = group_start_.data(step);
  const Activations x = in_.at(step);

  const size_t tile_rows = routed_.gate.tile_rows;
  const size_t tiles = (width_ + tile_rows - 1) / tile_rows;
  const size_t routed_items = touched * tiles;
  const size_t shared_items = shared_ ? shared_.gate.tiles() + 1 : 0;
  step.team.parallel_for(routed_items + shared_items, [&](size_t item, size_t worker) {
    if (item < routed_items) {
      const uint32_t expert = touched_.data(step)[item / tiles];
      const size_t begin = start[expert];
      const size_t column = item % tiles * tile_rows;
      const size_t first = expert * width_ + column;
      routed_.expand(step, x, token_of_.data(step) + begin, start[expert + 1] - begin, first,
                     expert * width_ + std::min(column + tile_rows, width_), hidden_, pair_of_.data(step) + begin, column, worker);
    } else if (item + 1 < routed_items + shared_items) {
      const size_t first = (item - routed_items) * shared_.gate.tile_rows;
      shared_.expand(step, x, nullptr, rows, first, std::min(first + shared_.gate.tile_rows, shared_.gate.rows), shared_hidden_, nullptr,
                     first, worker);
    } else {
      float* const weight = shared_weight_.data(step);
      shared_sigmoid_.matmul(shared_sigmoid_.weights, shared_sigmoid_.cols, 0, 1, x, nullptr, rows, weight, 1);
      for (size_t row = 0; row < rows; ++row) weight[row] = 1.0f / (1.0f + std::exp(-weight[row]));
    }
  });

  const size_t down_tiles = (residual_.cols + down_tile_rows_ - 1) / down_tile_rows_;
  step.team.parallel_for(down_tiles, [&](size_t tile, size_t worker) {
    const size_t first = tile * down_tile_rows_;
    add_up(step, touched, first, std::min(first + down_tile_rows_, residual_.cols), worker);
  });
}

}  // namespace teapot::cpu
