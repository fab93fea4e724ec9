#include "cpu/ops/ops.h"

namespace teapot::cpu {

EmbedOp::EmbedOp(const plan::Embed& op, Binder& binder)
    : weights_(binder.environment().weights), table_(op.table), out_(binder.f32(op.out)) {}

void EmbedOp::run(Worker& worker) const {
  const Step& step = worker.step();
  worker.phase("embed", step.rows(),
               [&](size_t row) { weights_.row(table_, static_cast<size_t>(step.packet.tokens[row]), out_.row(step, row)); });
}

}  // namespace teapot::cpu
