#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

struct Bind {
  const plan::Plan& plan;
  Binder& binder;

  BoundOp operator()(const plan::Embed& op) const { return EmbedOp(op, binder); }
  BoundOp operator()(const plan::NormProject& op) const { return NormProjectOp(op, binder); }
  BoundOp operator()(const plan::GdnStep& op) const { return GdnStepOp(op, binder); }
  BoundOp operator()(const plan::Attend& op) const { return AttendOp(op, binder); }
  BoundOp operator()(const plan::ProjectResidual& op) const { return ProjectResidualOp(op, binder); }
  BoundOp operator()(const plan::Route& op) const { return RouteOp(op, binder); }
  BoundOp operator()(const plan::Moe& op) const { return MoeOp(op, binder); }
  BoundOp operator()(const plan::Mlp& op) const { return MlpOp(op, binder); }
  BoundOp operator()(const plan::Head& op) const { return HeadOp(op, binder); }
  BoundOp operator()(const plan::Tap& op) const { return TapOp(op, plan, binder); }
};

}  // namespace

BoundOp bind(const plan::Op& op, const plan::Plan& plan, Binder& binder) {
  binder.begin_op();
  return std::visit(Bind{plan, binder}, op);
}

}  // namespace teapot::cpu
