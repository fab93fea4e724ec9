#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

template <class T>
std::vector<T> copy(const Step& step, const ScratchRows<T>& rows) {
  std::vector<T> result;
  result.reserve(step.rows() * rows.cols);
  for (size_t row = 0; row < step.rows(); ++row) result.insert(result.end(), rows.row(step, row), rows.row(step, row) + rows.cols);
  return result;
}

}  // namespace

TapOp::TapOp(const plan::Tap& op, const plan::Plan& plan, Binder& binder)
    : name_(op.name),
      dtype_(plan.buffers[static_cast<size_t>(op.buffer)].dtype),
      f32_(binder.f32(op.buffer)),
      i32_(binder.i32(op.buffer)) {}

void TapOp::finish(Step& step) const {
  plan::TapResult tap{name_, f32_.cols, {}, {}};
  if (dtype_ == plan::DType::kF32) {
    tap.f32 = copy(step, f32_);
  } else {
    tap.i32 = copy(step, i32_);
  }
  step.result.taps.push_back(std::move(tap));
}

}  // namespace teapot::cpu
