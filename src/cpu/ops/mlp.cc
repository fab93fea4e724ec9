#include <algorithm>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

MlpOp::MlpOp(const plan::Mlp& op, Binder& binder)
    : residual_(binder.f32(op.residual)),
      norm_(binder.vector(op.norm)),
      eps_(op.eps),
      unit_{binder.linear(op.gate), binder.linear(op.up)},
      down_(binder.linear(op.down)) {
  const size_t rows = binder.rows();
  normed_ = binder.activations(binder.scratch<float>(rows, residual_.cols), rows, unit_.int8());
  hidden_ = binder.activations(binder.scratch<float>(rows, unit_.gate.rows), rows, down_.int8);
  binder.need_worker_bytes(unit_.worker_bytes(rows));
  binder.need_worker_bytes(project_residual_worker_bytes(down_, rows));
}

void MlpOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const Activations x = normed_.at(step);
  worker.phase("gate, up", unit_.gate.tiles(), [&](size_t tile) {
    const size_t first = tile * unit_.gate.tile_rows;
    unit_.expand(step, x, nullptr, step.rows(), first, std::min(first + unit_.gate.tile_rows, unit_.gate.rows), hidden_, nullptr, first,
                 worker.index());
  });
  worker.sync();
  project_residual(worker, "down", down_, hidden_, residual_);
}

}  // namespace teapot::cpu
