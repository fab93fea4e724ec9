#include "cpu/ops/ops.h"

namespace teapot::cpu {

ProjectResidualOp::ProjectResidualOp(const plan::ProjectResidual& op, Binder& binder)
    : linear_(binder.linear(op.matrix)), residual_(binder.f32(op.residual)) {
  in_ = binder.activations(binder.f32(op.in), binder.rows(), linear_.int8);
  binder.need_worker_bytes(project_residual_worker_bytes(linear_, binder.rows()));
}

void ProjectResidualOp::run(Worker& worker) const { project_residual(worker, "project", linear_, in_, residual_); }

}  // namespace teapot::cpu
