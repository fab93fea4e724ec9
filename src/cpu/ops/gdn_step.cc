#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

// Tokens of a head that are convolved, normalised and run through the recurrence together: their q, k, v (96 KiB at dk = dv = 128)
// stay in L2 beside the state.
constexpr size_t kBlockTokens = 64;
constexpr float kL2NormEps = 1e-6f;  // spec 3.5, step 4

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

// What a worker keeps of a block.
struct Workspace {
  float *q, *k, *v, *o;  // [kBlockTokens, dk or dv]
  float *alpha, *beta;   // [kBlockTokens]

  Workspace(std::byte* memory, const plan::StateLayout& layout)
      : q(reinterpret_cast<float*>(memory)),
        k(q + kBlockTokens * layout.dk),
        v(k + kBlockTokens * layout.dk),
        o(v + kBlockTokens * layout.dv),
        alpha(o + kBlockTokens * layout.dv),
        beta(alpha + kBlockTokens) {}
  static size_t bytes(const plan::StateLayout& layout) { return kBlockTokens * (2 * layout.dk + 2 * layout.dv + 2) * sizeof(float); }
};

}  // namespace

struct GdnStepOp::Slice {
  size_t channel, width;
};

GdnStepOp::GdnStepOp(const plan::GdnStep& op, Binder& binder)
    : op_(op),
      layout_(binder.layout()),
      qkv_(binder.f32(op.qkv)),
      z_(binder.f32(op.z)),
      b_(binder.f32(op.b)),
      a_(binder.f32(op.a)),
      out_(binder.f32(op.out)),
      conv_(binder.constants().sliced_conv(op.conv, binder.vector(op.conv), layout_)),
      neg_exp_a_log_(binder.vector(op.neg_exp_a_log)),
      dt_bias_(binder.vector(op.dt_bias)),
      norm_(binder.vector(op.norm)) {
  binder.need_worker_bytes(Workspace::bytes(layout_));
}

// Tokens [block, block + count) of the sequence's rows. out: [count, slice.width].
void GdnStepOp::convolve(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, size_t block, size_t count,
                         const Slice& slice, float* out) const {
  const size_t kernel = layout_.conv_kernel;
  const float* const window = state.window(op_.state_layer);
  std::array<const float*, kMaxConvKernel> inputs;
  for (size_t t = 0; t < count; ++t) {
    for (size_t i = 0; i < kernel; ++i) {
      const size_t token = block + t + i;  // + kernel - 1: tokens before the step are in the window
      inputs[i] = (token < kernel - 1 ? window + token * layout_.conv_channels() : qkv_.row(step, rows.first_row + token - (kernel - 1))) +
                  slice.channel;
    }
    step.kernels.conv_silu(inputs.data(), conv_ + kernel * slice.channel, kernel, slice.width, out + t * slice.width);
  }
}

void GdnStepOp::advance_window(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, const Slice& slice) const {
  const size_t kept = layout_.conv_kernel - 1;
  const float* const window = state.window(op_.state_layer);
  float* const next = state.next_window(op_.state_layer);
  for (size_t i = 0; i < kept; ++i) {
    const size_t token = rows.rows + i;  // counted from the oldest row of the window
    const float* from = token < kept ? window + token * layout_.conv_channels() : qkv_.row(step, rows.first_row + token - kept);
    std::copy_n(from + slice.channel, slice.width, next + i * layout_.conv_channels() + slice.channel);
  }
}

void GdnStepOp::run_head(const Step& step, size_t sequence, size_t head, size_t worker) const {
  const plan::SequenceRows& rows = step.packet.sequences[sequence];
  const SequenceState& state = *step.states[sequence];
  const size_t dk = layout_.dk, dv = layout_.dv;
  const size_t heads_per_key = layout_.value_heads / layout_.key_heads;
  const size_t key_head = layout_.tiled_value_heads ? head % layout_.key_heads : head / heads_per_key;
  const size_t nth_of_key = layout_.tiled_value_heads ? head / layout_.key_heads : head % heads_per_key;
  const Slice q{key_head * dk, dk};
  const Slice k{(layout_.key_heads + key_head) * dk, dk};
  const Slice v{2 * layout_.key_heads * dk + head * dv, dv};
  const Workspace w(step.worker(worker), layout_);
  float* const recurrent = state.recurrent(op_.state_layer) + head * dk * dv;

  for (size_t block = 0; block < rows.rows; block += kBlockTokens) {
    const size_t count = std::min<size_t>(kBlockTokens, rows.rows - block);
    convolve(step, rows, state, block, count, q, w.q);
    convolve(step, rows, state, block, count, k, w.k);
    convolve(step, rows, state, block, count, v, w.v);
    for (size_t t = 0; t < count; ++t) {
      const size_t row = rows.first_row + block + t;
      step.kernels.l2_norm(w.q + t * dk, kL2NormEps, 1.0f / std::sqrt(static_cast<float>(dk)), dk, w.q + t * dk);
      step.kernels.l2_norm(w.k + t * dk, kL2NormEps, 1.0f, dk, w.k + t * dk);
      w.alpha[t] = std::exp(neg_exp_a_log_[head] * softplus(a_.row(step, row)[head] + dt_bias_[head]));
      w.beta[t] = sigmoid(b_.row(step, row)[head]);
    }
    step.kernels.gdn_head({w.q, w.k, w.v, w.alpha, w.beta, dk, dk, dv, 1, dv, dk, dv, count}, recurrent, w.o);
    for (size_t t = 0; t < count; ++t) {
      const size_t row = rows.first_row + block + t;
      step.kernels.gated_norm(w.o + t * dv, z_.row(step, row) + head * dv, norm_, op_.eps, dv, out_.row(step, row) + head * dv);
    }
  }
  advance_window(step, rows, state, v);
  if (nth_of_key != 0) return;  // one of the key head's value heads moves its window on
  advance_window(step, rows, state, q);
  advance_window(step, rows, state, k);
}

void GdnStepOp::run(Worker& worker) const {
  const Step& step = worker.step();
  // A value head convolves the q and k of its key head itself: a few hundred channels again, and one phase instead of two.
  const size_t heads = layout_.value_heads;
  worker.phase("heads", step.states.size() * heads, [&](size_t item) { run_head(step, item / heads, item % heads, worker.index()); });
}

void GdnStepOp::finish(Step& step) const {
  for (SequenceState* state : step.states) state->flip_window(op_.state_layer);
}

}  // namespace teapot::cpu
