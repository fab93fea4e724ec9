#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

struct Bind {
  const OpGroup& group;
  const plan::Plan& plan;
  Binder& binder;

  BoundOp operator()(const plan::Embed& op) const { return EmbedOp(op, binder); }
  BoundOp operator()(const plan::NormProject& op) const { return NormProjectOp(op, binder); }
  BoundOp operator()(const plan::GdnStep& op) const { return GdnStepOp(op, binder); }
  BoundOp operator()(const plan::Attend& op) const { return AttendOp(op, binder); }
  BoundOp operator()(const plan::ProjectResidual& op) const { return ProjectResidualOp(op, binder); }
  BoundOp operator()(const plan::Route& op) const { return MoeOp(op, *group.experts, binder); }
  BoundOp operator()(const plan::Moe&) const { std::unreachable(); }  // group_ops gives it to its Route
  BoundOp operator()(const plan::Mlp& op) const { return MlpOp(op, binder); }
  BoundOp operator()(const plan::Head& op) const { return HeadOp(op, binder); }
  BoundOp operator()(const plan::MtpCombine& op) const { return MtpCombineOp(op, binder); }
  BoundOp operator()(const plan::KeepHidden& op) const { return KeepHiddenOp(op, binder); }
  BoundOp operator()(const plan::Tap& op) const { return TapOp(op, plan, binder); }
};

bool feeds(const plan::Route& route, const plan::Moe& moe) {
  return route.normed == moe.normed && route.experts == moe.experts && route.weights == moe.weights;
}

}  // namespace

Result<std::vector<OpGroup>> group_ops(const plan::Plan& plan) {
  std::vector<OpGroup> groups;
  std::vector<OpGroup> taps;  // between a Route and its Moe: what they look at is there after both, too
  const plan::Op* open = nullptr;
  for (uint32_t i = 0; i < plan.ops.size(); ++i) {
    const plan::Op& op = plan.ops[i];
    const auto* const moe = std::get_if<plan::Moe>(&op);
    if (open == nullptr && moe == nullptr) {
      if (std::holds_alternative<plan::Route>(op)) {
        open = &op;
      } else {
        groups.push_back({&op, nullptr, i});
      }
    } else if (open != nullptr && std::holds_alternative<plan::Tap>(op)) {
      taps.push_back({&op, nullptr, i});
    } else if (open != nullptr && moe != nullptr && feeds(std::get<plan::Route>(*open), *moe)) {
      groups.push_back({open, moe, i});
      groups.insert(groups.end(), taps.begin(), taps.end());
      taps.clear();
      open = nullptr;
    } else {
      return fail(ErrorKind::kInternal, "plan: op {} is {}", i,
                  open == nullptr ? "experts without a router" : "not the experts of the router before");
    }
  }
  if (open != nullptr) return fail(ErrorKind::kInternal, "plan: a router without experts");
  return groups;
}

BoundOp bind(const OpGroup& group, const plan::Plan& plan, Binder& binder) {
  binder.begin_op();
  return std::visit(Bind{group, plan, binder}, *group.op);
}

}  // namespace teapot::cpu
