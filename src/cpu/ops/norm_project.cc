#include <algorithm>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

NormProjectOp::NormProjectOp(const plan::NormProject& op, Binder& binder)
    : x_(binder.f32(op.x)), norm_(binder.vector(op.norm)), eps_(op.eps) {
  bool int8 = false;
  for (const plan::NormProject::Projection& projection : op.projections) {
    const Linear linear = binder.linear(projection.matrix);
    const auto index = static_cast<uint32_t>(projections_.size());
    for (size_t first = 0; first < linear.rows; first += linear.tile_rows) {
      tiles_.push_back({index, static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(first + linear.tile_rows, linear.rows))});
    }
    projections_.push_back({linear, binder.f32(projection.out)});
    int8 = int8 || linear.int8;
  }
  normed_ = binder.activations(binder.scratch<float>(binder.rows(), x_.cols), binder.rows(), int8);
}

void NormProjectOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const Activations x = normed_.at(step);
  worker.phase("project", tiles_.size(), [&](size_t item) {
    const Tile& tile = tiles_[item];
    const auto& [linear, out] = projections_[tile.projection];
    linear.matmul(linear.weights, linear.cols, tile.first, tile.last, x, nullptr, step.rows(), out.data(step) + tile.first, out.stride);
  });
}

}  // namespace teapot::cpu
