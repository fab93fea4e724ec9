#include "cpu/ops/ops.h"
#include "plan/dequantize.h"

namespace teapot::cpu {

EmbedOp::EmbedOp(const plan::Embed& op, Binder& binder)
    : table_(binder.environment().weights.matrix(op.table)),
      type_(binder.matrix(op.table).type),
      row_bytes_(row_bytes(type_, binder.matrix(op.table).cols)),
      out_(binder.f32(op.out)) {}

void EmbedOp::run(Worker& worker) const {
  const Step& step = worker.step();
  worker.phase("embed", step.rows(), [&](size_t row) {
    const auto token = static_cast<size_t>(step.packet.tokens[row]);
    dequantize_row(type_, reinterpret_cast<const std::byte*>(table_) + token * row_bytes_, out_.cols, out_.row(step, row));
  });
}

}  // namespace teapot::cpu
