#include <algorithm>
#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

MoeOp::MoeOp(const plan::Route& route, const plan::Moe& op, Binder& binder)
    : x_(binder.f32(route.x)),
      norm_(binder.vector(route.norm)),
      eps_(route.eps),
      router_(binder.linear_f32(route.router)),
      renormalise_(route.renormalise),
      experts_count_(op.expert_count),
      experts_(binder.i32(op.experts)),
      weights_(binder.f32(op.weights)),
      residual_(binder.f32(op.residual)),
      routed_{binder.linear(op.gate), binder.linear(op.up)},
      down_(binder.linear(op.down)),
      shared_{binder.linear(op.shared_gate), binder.linear(op.shared_up)},
      shared_down_(binder.linear(op.shared_down)),
      shared_sigmoid_(binder.linear(op.shared_sigmoid)) {
  const size_t rows = binder.rows();
  logits_ = binder.scratch<float>(rows, router_.rows);
  top_k_ = experts_.cols;
  width_ = routed_.gate.rows / experts_count_;
  // Tiles do not cross from one expert to the next.
  routed_.gate.tile_rows = std::min(routed_.gate.tile_rows, align_up(width_, kQuantBlock));
  routed_tiles_ = (width_ + routed_.gate.tile_rows - 1) / routed_.gate.tile_rows;
  in_ = binder.activations(binder.f32(op.normed), rows, routed_.int8() || shared_.int8() || shared_sigmoid_.int8);
  hidden_ = binder.activations(binder.scratch<float>(rows * top_k_, width_), rows * top_k_, down_.int8);
  binder.need_worker_bytes(routed_.worker_bytes(rows));
  if (shared_) {
    shared_hidden_ = binder.activations(binder.scratch<float>(rows, shared_.gate.rows), rows, shared_down_.int8);
    shared_weight_ = binder.scratch<float>(1, rows);
    serial_shared_ = binder.environment().levers.serial_shared_expert;
    if (serial_shared_) shared_out_ = binder.scratch<float>(rows, residual_.cols);
    binder.need_worker_bytes(shared_.worker_bytes(rows));
  }
  touched_ = binder.scratch<uint32_t>(1, experts_count_);
  group_start_ = binder.scratch<uint32_t>(1, experts_count_ + 1);
  token_of_ = binder.scratch<uint32_t>(1, rows * top_k_);
  pair_of_ = binder.scratch<uint32_t>(1, rows * top_k_);
  place_of_pair_ = binder.scratch<uint32_t>(1, rows * top_k_);
  prefetch_ = binder.environment().levers.prefetch;
  // Small tiles: one claim reads its rows of all touched experts.
  down_tile_rows_ = std::clamp<size_t>(residual_.cols / (8 * binder.environment().workers) / 16 * 16, 16, 128);
  binder.need_worker_bytes((rows * (top_k_ + 1) + 1) * down_tile_rows_ * sizeof(float));
}

// Sorts the (token, rank) pairs by expert, tokens ascending. Returns how many experts are touched.
uint32_t MoeOp::group(const Step& step) const {
  uint32_t* const start = group_start_.data(step);
  uint32_t* const touched = touched_.data(step);
  std::fill_n(start, experts_count_ + 1, 0u);
  for (size_t token = 0; token < step.rows(); ++token) {
    for (size_t rank = 0; rank < top_k_; ++rank) ++start[experts_.row(step, token)[rank] + 1];
  }
  uint32_t count = 0;
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
void MoeOp::add_up(const Step& step, size_t first, size_t last, size_t worker) const {
  const size_t rows = step.rows(), count = last - first;
  const uint32_t* const start = group_start_.data(step);
  float* const routed = reinterpret_cast<float*>(step.worker(worker));  // [rows * top_k, count], grouped by expert
  float* const shared = routed + rows * top_k_ * count;                 // [rows, count]
  float* const sum = shared + rows * count;                             // [count]
  const Activations hidden = hidden_.at(step);
  for (size_t i = 0; i < touched_last_; ++i) {
    const uint32_t expert = touched_.data(step)[i];
    const size_t begin = start[expert];
    if (prefetch_ >= Prefetch::kRouted && i + 1 < touched_last_) {
      prefetch_rows(down_, touched_.data(step)[i + 1] * residual_.cols + first, count);
    } else if (prefetch_ != Prefetch::kOff && prefetch_ != Prefetch::kRouted && shared_ && !serial_shared_ && i + 1 == touched_last_) {
      prefetch_rows(shared_down_, first, count);
    }
    down_.matmul(down_.weights, down_.cols, expert * residual_.cols + first, expert * residual_.cols + last, hidden,
                 pair_of_.data(step) + begin, start[expert + 1] - begin, routed + begin * count, count);
  }
  if (shared_ && !serial_shared_) {
    shared_down_.matmul(shared_down_.weights, shared_down_.cols, first, last, shared_hidden_.at(step), nullptr, rows, shared, count);
  }
  for (size_t row = 0; row < rows; ++row) {
    std::fill_n(sum, count, 0.0f);
    for (size_t rank = 0; rank < top_k_; ++rank) {
      const size_t place = place_of_pair_.data(step)[row * top_k_ + rank];
      step.kernels.add_scaled(routed + place * count, weights_.row(step, row)[rank], count, sum);
    }
    if (shared_) {
      const float* const from = serial_shared_ ? shared_out_.row(step, row) + first : shared + row * count;
      step.kernels.add_scaled(from, shared_weight_.data(step)[row], count, sum);
    }
    step.kernels.add_scaled(sum, 1.0f, count, residual_.row(step, row) + first);
  }
}

void MoeOp::choose(const Step& step, size_t row) const {
  choose_experts({logits_.row(step, row), logits_.cols}, renormalise_, {experts_.row(step, row), top_k_},
                 {weights_.row(step, row), top_k_});
}

// A tile of the shared expert's gate and up, or its own gate.
void MoeOp::shared_item(const Step& step, size_t item, size_t worker) const {
  const size_t rows = step.rows();
  const Activations x = in_.at(step);
  if (item < shared_.gate.tiles()) {
    const size_t first = item * shared_.gate.tile_rows;
    shared_.expand(step, x, nullptr, rows, first, std::min(first + shared_.gate.tile_rows, shared_.gate.rows), shared_hidden_, nullptr,
                   first, worker);
    return;
  }
  float* const weight = shared_weight_.data(step);
  shared_sigmoid_.matmul(shared_sigmoid_.weights, shared_sigmoid_.cols, 0, 1, x, nullptr, rows, weight, 1);
  for (size_t row = 0; row < rows; ++row) weight[row] = 1.0f / (1.0f + std::exp(-weight[row]));
}

void MoeOp::routed_item(const Step& step, size_t item, size_t worker) const {
  const uint32_t* const start = group_start_.data(step);
  const uint32_t expert = touched_.data(step)[item / routed_tiles_];
  const size_t begin = start[expert];
  const size_t column = item % routed_tiles_ * routed_.gate.tile_rows;
  routed_.expand(step, in_.at(step), token_of_.data(step) + begin, start[expert + 1] - begin, expert * width_ + column,
                 expert * width_ + std::min(column + routed_.gate.tile_rows, width_), hidden_, pair_of_.data(step) + begin, column, worker);
}

// The shared expert in phases of its own.
void MoeOp::run_shared(Worker& worker, size_t items) const {
  const Step& step = worker.step();
  worker.phase("shared gate, up", items, [&](size_t item) { shared_item(step, item, worker.index()); });
  worker.sync();
  worker.phase("shared down", shared_down_.tiles(), [&](size_t tile) {
    const size_t first = tile * shared_down_.tile_rows;
    const size_t last = std::min(first + shared_down_.tile_rows, shared_down_.rows);
    shared_down_.matmul(shared_down_.weights, shared_down_.cols, first, last, shared_hidden_.at(step), nullptr, step.rows(),
                        shared_out_.data(step) + first, shared_out_.stride);
  });
  worker.sync();
}

void MoeOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const size_t rows = step.rows(), self = worker.index();
  const size_t router_tiles = router_.tiles();
  const size_t shared_items = shared_ ? shared_.gate.tiles() + 1 : 0;
  const size_t beside_router = serial_shared_ ? 0 : shared_items;
  const Activations x = in_.at(step);
  worker.phase(serial_shared_ ? "router" : "router, shared", router_tiles + beside_router, [&](size_t item) {
    if (item >= router_tiles) return shared_item(step, item - router_tiles, self);
    const size_t first = item * router_.tile_rows;
    const size_t last = std::min(first + router_.tile_rows, router_.rows);
    router_.matmul(router_.weights, router_.cols, first, last, x, nullptr, rows, logits_.data(step) + first, logits_.stride);
  });
  worker.sync_rows("choose", rows, logits_.cols, [&](size_t row) { choose(step, row); }, [&] { touched_last_ = group(step); });

  worker.phase("experts", touched_last_ * routed_tiles_, [&](size_t item) { routed_item(step, item, self); });
  worker.sync();
  if (serial_shared_) run_shared(worker, shared_items);

  const size_t down_tiles = (residual_.cols + down_tile_rows_ - 1) / down_tile_rows_;
  worker.phase("down", down_tiles, [&](size_t tile) {
    const size_t first = tile * down_tile_rows_;
    add_up(step, first, std::min(first + down_tile_rows_, residual_.cols), self);
  });
}

}  // namespace teapot::cpu
