#include <algorithm>
#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {

RouteOp::RouteOp(const plan::Route& op, Binder& binder)
    : x_(binder.f32(op.x)),
      normed_(binder.f32(op.normed)),
      weights_(binder.f32(op.weights)),
      experts_(binder.i32(op.experts)),
      norm_(binder.vector(op.norm)),
      eps_(op.eps),
      router_(binder.linear_f32(op.router)),
      renormalise_(op.renormalise) {
  logits_ = binder.scratch<float>(binder.rows(), router_.rows);
}

// Softmax over all experts, then the top k of its values: in this order, so that values that round to equals are told apart by index.
void RouteOp::choose(const Step& step, size_t row) const {
  float* const p = logits_.row(step, row);
  const size_t experts = logits_.cols;
  const float highest = *std::max_element(p, p + experts);
  float sum = 0;
  for (size_t e = 0; e < experts; ++e) {
    p[e] = std::exp(p[e] - highest);
    sum += p[e];
  }
  for (size_t e = 0; e < experts; ++e) p[e] /= sum;

  int32_t* const chosen = experts_.row(step, row);
  float* const weights = weights_.row(step, row);
  float chosen_sum = 0;
  for (size_t rank = 0; rank < experts_.cols; ++rank) {
    // The first that is left, unless a later one is larger: a row of NaN chooses experts that exist, its logits will tell.
    size_t best = experts;
    for (size_t e = 0; e < experts; ++e) {
      const bool taken = std::find(chosen, chosen + rank, static_cast<int32_t>(e)) != chosen + rank;
      if (!taken && (best == experts || p[e] > p[best])) best = e;
    }
    chosen[rank] = static_cast<int32_t>(best);
    weights[rank] = p[best];
    chosen_sum += p[best];
  }
  if (!renormalise_) return;
  for (size_t rank = 0; rank < experts_.cols; ++rank) weights[rank] /= chosen_sum;
}

void RouteOp::run(Step& step) const {
  const size_t rows = step.rows();
  normalise(step, x_, norm_, eps_, {normed_, {}, false});
  const Activations x{normed_.data(step), nullptr, nullptr, nullptr, normed_.stride};
  step.team.parallel_for(router_.tiles(), [&](size_t tile, size_t) {
    const size_t first = tile * router_.tile_rows;
    const size_t last = std::min(first + router_.tile_rows, router_.rows);
    router_.matmul(router_.weights, router_.cols, first, last, x, nullptr, rows, logits_.data(step) + first, logits_.stride);
  });
  step.for_rows(rows, logits_.cols * experts_.cols, [&](size_t row, size_t) { choose(step, row); });
}

}  // namespace teapot::cpu
