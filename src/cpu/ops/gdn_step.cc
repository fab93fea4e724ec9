#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "cpu/ops/fetch.h"
#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

// Tokens of a head that are convolved, normalised and run through the recurrence together: their q, k, v (96 KiB at dk = dv = 128)
// stay in L2 beside the state.
constexpr size_t kBlockTokens = 64;
constexpr size_t kRowsAhead = 8;  // a head's columns of a token are asked for so early: from row to row is too far for a prefetcher
static_assert(kMaxVerifyRows <= kBlockTokens, "the rows that a state does not take in are one run");
constexpr float kL2NormEps = 1e-6f;  // spec 3.5, step 4

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

// What a worker keeps of a block.
struct Workspace {
  float *q, *k, *v, *o;  // [kBlockTokens, dk or dv]
  float *alpha, *beta;   // [kBlockTokens]
  float* state;          // [dk, dv] of one that is kept in bf16, or [dk, kGdnStrip] of one that is to stay as it is; never both

  Workspace(std::byte* memory, const plan::StateLayout& layout)
      : q(reinterpret_cast<float*>(memory)),
        k(q + kBlockTokens * layout.dk),
        v(k + kBlockTokens * layout.dk),
        o(v + kBlockTokens * layout.dv),
        alpha(o + kBlockTokens * layout.dv),
        beta(alpha + kBlockTokens),
        state(beta + kBlockTokens) {}
  static size_t bytes(const plan::StateLayout& layout) {
    return (kBlockTokens * (2 * layout.dk + 2 * layout.dv + 2) + layout.dk * std::max<size_t>(layout.dv, kGdnStrip)) * sizeof(float);
  }
};

}  // namespace

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
  split_ = binder.environment().levers.split_gdn;
  prefetch_ = binder.environment().levers.prefetch == Prefetch::kAll;
  if (!split_) return;
  conved_ = binder.scratch<float>(binder.rows(), layout_.conv_channels());
  alpha_ = binder.scratch<float>(binder.rows(), layout_.value_heads);
  beta_ = binder.scratch<float>(binder.rows(), layout_.value_heads);
}

// Tokens [block, block + count) of the sequence's rows; out: each slice.width floats, out_stride from token to token.
void GdnStepOp::convolve(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, size_t block, size_t count,
                         const Slice& slice, float* out, size_t out_stride) const {
  const size_t kernel = layout_.conv_kernel;
  const float* const window = state.window(op_.state_layer);
  std::array<const float*, kMaxConvKernel> inputs;
  for (size_t t = 0; t < count; ++t) {
    if (const size_t ahead = block + t + kRowsAhead; ahead < rows.rows) {
      fetch(qkv_.row(step, rows.first_row + ahead) + slice.channel, slice.width * sizeof(float));
    }
    for (size_t i = 0; i < kernel; ++i) {
      const size_t token = block + t + i;  // + kernel - 1: tokens before the step are in the window
      inputs[i] = (token < kernel - 1 ? window + token * layout_.conv_channels() : qkv_.row(step, rows.first_row + token - (kernel - 1))) +
                  slice.channel;
    }
    step.kernels.conv_silu(inputs.data(), conv_ + kernel * slice.channel, kernel, slice.width, out + t * out_stride);
  }
}

// Rows that may not hold: all are kept, behind the window that they began with.
void GdnStepOp::advance_window(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, const Slice& slice) const {
  const size_t kept = layout_.conv_kernel - 1;
  const float* const window = state.window(op_.state_layer);
  float* const next = state.next_window(op_.state_layer);
  const size_t first = rows.kind == plan::StepKind::kVerify ? 0 : rows.rows;  // counted from the oldest row of the window
  for (size_t token = first; token < kept + rows.rows; ++token) {
    const float* from = token < kept ? window + token * layout_.conv_channels() : qkv_.row(step, rows.first_row + token - kept);
    std::copy_n(from + slice.channel, slice.width, next + (token - first) * layout_.conv_channels() + slice.channel);
  }
}

GdnStepOp::HeadSlices GdnStepOp::slices_of(size_t head) const {
  const size_t key_head = layout_.key_head(static_cast<uint32_t>(head));
  const size_t nth_of_key = layout_.tiled_value_heads ? head / layout_.key_heads : head % (layout_.value_heads / layout_.key_heads);
  return {{key_head * layout_.dk, layout_.dk},
          {(layout_.key_heads + key_head) * layout_.dk, layout_.dk},
          {2 * layout_.key_heads * layout_.dk + head * layout_.dv, layout_.dv},
          nth_of_key == 0};
}

// One of a key head's value heads moves its window on.
void GdnStepOp::advance_windows(const Step& step, const plan::SequenceRows& rows, const SequenceState& state,
                                const HeadSlices& slices) const {
  advance_window(step, rows, state, slices.v);
  if (!slices.first_of_key) return;
  advance_window(step, rows, state, slices.q);
  advance_window(step, rows, state, slices.k);
}

void GdnStepOp::gates(const Step& step, size_t row, size_t head, float& alpha, float& beta) const {
  alpha = std::exp(neg_exp_a_log_[head] * softplus(a_.row(step, row)[head] + dt_bias_[head]));
  beta = sigmoid(b_.row(step, row)[head]);
}

// fn(state [dk, dv] f32) on a head's state; one in bf16 is widened before and rounded after.
template <class F>
void GdnStepOp::with_state(const Step& step, const SequenceState& state, size_t head, float* wide, F&& fn) const {
  const size_t size = layout_.dk * layout_.dv;
  if (!state.bf16_recurrent()) return fn(state.recurrent(op_.state_layer) + head * size);
  uint16_t* const narrow = state.recurrent_bf16(op_.state_layer) + head * size;
  for (size_t i = 0; i < size; ++i) wide[i] = bf16_to_f32(narrow[i]);
  fn(wide);
  step.kernels.store_kv[kKvBF16](wide, size, narrow);
}

// Tokens that were accepted since the last step move the state first; those that may not hold go to the log instead. One of a key head's
// value heads writes its k.
void GdnStepOp::use_logs(Worker& worker, const plan::SequenceRows& rows, const SequenceState& state, size_t head, bool first_of_key,
                         float* strip, GdnHead& run) const {
  run.pending = state.pending_log(op_.state_layer, static_cast<uint32_t>(head));
  run.replay_ticks = &worker.replayed();
  if (rows.kind != plan::StepKind::kVerify) return;
  const uint64_t began = ticks();
  const DeltaLog::Head log = state.next_log(op_.state_layer, static_cast<uint32_t>(head));
  for (size_t t = 0; t < run.tokens; ++t) {
    log.alpha[t * log.stride] = run.alpha[t * run.gate_stride];
    if (first_of_key) std::copy_n(run.k + t * run.k_stride, run.dk, log.k + t * log.stride);
  }
  run.delta = log.delta;
  run.delta_stride = log.stride;
  run.strip = strip;
  worker.replayed() += ticks() - began;
}

// The recurrence walks over columns, in which no prefetcher sees a stream: a worker's first state is asked for while its inputs are
// convolved, the following ones while those before them are computed.
void GdnStepOp::fetch_state(const SequenceState& state, size_t head) const {
  const size_t size = layout_.dk * layout_.dv;
  if (state.bf16_recurrent()) return fetch(state.recurrent_bf16(op_.state_layer) + head * size, size * sizeof(uint16_t));
  fetch(state.recurrent(op_.state_layer) + head * size, size * sizeof(float));
}

// first, last: of those that the worker takes one after the other.
void GdnStepOp::run_head(Worker& worker, size_t sequence, size_t head, bool first, bool last) const {
  const Step& step = worker.step();
  const plan::SequenceRows& rows = step.packet.sequences[sequence];
  const SequenceState& state = *step.states[sequence];
  const size_t dk = layout_.dk, dv = layout_.dv;
  const HeadSlices slices = slices_of(head);
  const Workspace w(worker.scratch(), layout_);
  if (prefetch_ && first) fetch_state(state, head);
  const float* const next =
      prefetch_ && !last && !state.bf16_recurrent() ? state.recurrent(op_.state_layer) + (head + 1) * dk * dv : nullptr;
  with_state(step, state, head, w.state, [&](float* recurrent) {
    for (size_t block = 0; block < rows.rows; block += kBlockTokens) {
      const size_t count = std::min<size_t>(kBlockTokens, rows.rows - block);
      convolve(step, rows, state, block, count, slices.q, w.q, dk);
      convolve(step, rows, state, block, count, slices.k, w.k, dk);
      convolve(step, rows, state, block, count, slices.v, w.v, dv);
      for (size_t t = 0; t < count; ++t) {
        step.kernels.l2_norm(w.q + t * dk, kL2NormEps, 1.0f / std::sqrt(static_cast<float>(dk)), dk, w.q + t * dk);
        step.kernels.l2_norm(w.k + t * dk, kL2NormEps, 1.0f, dk, w.k + t * dk);
        gates(step, rows.first_row + block + t, head, w.alpha[t], w.beta[t]);
        fetch(z_.row(step, rows.first_row + block + t) + head * dv, dv * sizeof(float));
      }
      GdnHead run{w.q, w.k, w.v, w.alpha, w.beta, dk, dk, dv, 1, dv, dk, dv, count, block + count == rows.rows ? next : nullptr};
      if (block == 0) use_logs(worker, rows, state, head, slices.first_of_key, w.state, run);
      step.kernels.gdn_head(run, recurrent, w.o);
      for (size_t t = 0; t < count; ++t) {
        const size_t row = rows.first_row + block + t;
        step.kernels.gated_norm(w.o + t * dv, z_.row(step, row) + head * dv, norm_, op_.eps, dv, out_.row(step, row) + head * dv);
      }
    }
  });
  advance_windows(step, rows, state, slices);
}

// The same, one kind of work after the other, over buffers.
void GdnStepOp::run_split(Worker& worker) const {
  const Step& step = worker.step();
  const size_t dk = layout_.dk, dv = layout_.dv, heads = layout_.value_heads, key_heads = layout_.key_heads;
  const size_t slices = 2 * key_heads + heads, sequences = step.states.size();
  worker.phase("convolution", sequences * slices, [&](size_t item) {
    const plan::SequenceRows& rows = step.packet.sequences[item / slices];
    const size_t i = item % slices;
    const Slice slice = i < 2 * key_heads ? Slice{i * dk, dk} : Slice{2 * key_heads * dk + (i - 2 * key_heads) * dv, dv};
    convolve(step, rows, *step.states[item / slices], 0, rows.rows, slice, conved_.row(step, rows.first_row) + slice.channel,
             conved_.stride);
  });
  worker.sync();
  worker.phase("norms, gates", step.rows(), [&](size_t row) {
    float* const x = conved_.row(step, row);
    for (size_t h = 0; h < key_heads; ++h) {
      step.kernels.l2_norm(x + h * dk, kL2NormEps, 1.0f / std::sqrt(static_cast<float>(dk)), dk, x + h * dk);
      step.kernels.l2_norm(x + (key_heads + h) * dk, kL2NormEps, 1.0f, dk, x + (key_heads + h) * dk);
    }
    for (size_t h = 0; h < heads; ++h) gates(step, row, h, alpha_.row(step, row)[h], beta_.row(step, row)[h]);
  });
  worker.sync();
  worker.phase("recurrence", sequences * heads, [&](size_t item) {
    const plan::SequenceRows& rows = step.packet.sequences[item / heads];
    const SequenceState& state = *step.states[item / heads];
    const size_t head = item % heads;
    const HeadSlices s = slices_of(head);
    const float* const x = conved_.row(step, rows.first_row);
    const size_t stride = conved_.stride;
    const Workspace w(worker.scratch(), layout_);
    with_state(step, state, head, w.state, [&](float* recurrent) {
      GdnHead run{x + s.q.channel,
                  x + s.k.channel,
                  x + s.v.channel,
                  alpha_.row(step, rows.first_row) + head,
                  beta_.row(step, rows.first_row) + head,
                  stride,
                  stride,
                  stride,
                  alpha_.stride,
                  out_.stride,
                  dk,
                  dv,
                  rows.rows};
      use_logs(worker, rows, state, head, s.first_of_key, w.state, run);
      step.kernels.gdn_head(run, recurrent, out_.row(step, rows.first_row) + head * dv);
    });
    advance_windows(step, rows, state, s);
  });
  worker.sync();
  worker.phase("gated norm", step.rows(), [&](size_t row) {
    for (size_t h = 0; h < heads; ++h) {
      float* const y = out_.row(step, row) + h * dv;
      step.kernels.gated_norm(y, z_.row(step, row) + h * dv, norm_, op_.eps, dv, y);
    }
  });
}

void GdnStepOp::run(Worker& worker) const {
  if (split_) return run_split(worker);
  const Step& step = worker.step();
  // A value head convolves the q and k of its key head itself: a few hundred channels again, and one phase instead of two.
  const size_t heads = layout_.value_heads, run = heads_per_item(step), runs = heads / run;
  worker.phase("heads", step.states.size() * runs, [&](size_t item) {
    for (size_t i = 0; i < run; ++i) {
      run_head(worker, item / runs, item % runs * run + i, i == 0 || step.states[item / runs]->bf16_recurrent(), i + 1 == run);
    }
  });
}

// As many as can be fetched one ahead of the other, and few enough that no worker waits long for the last.
size_t GdnStepOp::heads_per_item(const Step& step) const {
  size_t run = 1;
  while (run < 8 && layout_.value_heads % (2 * run) == 0 &&
         step.states.size() * layout_.value_heads / (2 * run) >= 8 * step.team.workers()) {
    run *= 2;
  }
  return run;
}

void GdnStepOp::finish(Step& step) const {
  for (SequenceState* state : step.states) state->flip_window(op_.state_layer);
}

}  // namespace teapot::cpu
