// The ops of a plan as the CPU runs them: each bound once, when its plan is prepared, and run without look-up or allocation.
//
// A row's result depends on that row and its sequence's state only, computed in one order whatever shares the step: any chunking, any
// batch and any number of threads give the same bits.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cpu/ops/binder.h"
#include "cpu/ops/feed_forward.h"

namespace teapot::cpu {

// spec 3.1
class EmbedOp {
 public:
  EmbedOp(const plan::Embed& op, Binder& binder);
  void run(Step& step) const;

 private:
  const unsigned char* table_;
  plan::WeightType type_;
  size_t row_bytes_;
  ScratchRows<float> out_;
};

// spec 3.2 and the projections after it
class NormProjectOp {
 public:
  NormProjectOp(const plan::NormProject& op, Binder& binder);
  void run(Step& step) const;

 private:
  struct Tile {
    uint32_t projection, first, last;
  };
  struct Projection {
    Linear linear;
    ScratchRows<float> out;
  };

  ScratchRows<float> x_;
  const float* norm_;
  float eps_;
  ActivationRows normed_;
  std::vector<Projection> projections_;
  std::vector<Tile> tiles_;
};

// spec 3.5, steps 2 to 8
class GdnStepOp {
 public:
  GdnStepOp(const plan::GdnStep& op, Binder& binder);
  void run(Step& step) const;

 private:
  struct Slice;  // consecutive channels of one head's q, k or v
  void convolve(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, size_t block, size_t count,
                const Slice& slice, float* out) const;
  void advance_window(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, const Slice& slice) const;
  void run_head(const Step& step, size_t sequence, size_t head, size_t worker) const;

  plan::GdnStep op_;
  plan::StateLayout layout_;
  ScratchRows<float> qkv_, z_, b_, a_, out_;
  std::vector<float> conv_;  // per slice: [kernel, its channels]
  const float *neg_exp_a_log_, *dt_bias_, *norm_;
};

// spec 3.4
class AttendOp {
 public:
  AttendOp(const plan::Attend& op, Binder& binder);
  void run(Step& step) const;

 private:
  void rotate(const float* x, const float* cos, const float* sin, float* out) const;
  void prepare_row(const Step& step, size_t row, size_t worker) const;
  void attend(const Step& step, size_t row, size_t head, size_t worker) const;

  plan::Attend op_;
  size_t head_dim_, kv_heads_;
  ScratchRows<float> q_, gate_, k_, v_, out_;
  bool gated_;
  const float *q_norm_, *k_norm_;
  float scale_;
  std::vector<float> inv_freq_;  // [rotary_dim / 2]
};

class ProjectResidualOp {
 public:
  ProjectResidualOp(const plan::ProjectResidual& op, Binder& binder);
  void run(Step& step) const;

 private:
  ActivationRows in_;
  Linear linear_;
  ScratchRows<float> residual_;
};

// spec 3.7, its first line
class RouteOp {
 public:
  RouteOp(const plan::Route& op, Binder& binder);
  void run(Step& step) const;

 private:
  void choose(const Step& step, size_t row) const;

  ScratchRows<float> x_, normed_, weights_, logits_;
  ScratchRows<int32_t> experts_;
  const float* norm_;
  float eps_;
  Linear router_;
  bool renormalise_;
};

// spec 3.7, the rest
class MoeOp {
 public:
  MoeOp(const plan::Moe& op, Binder& binder);
  void run(Step& step) const;
  uint32_t touched_last() const { return touched_last_; }  // distinct experts of the last step

 private:
  size_t group(Step& step) const;
  void add_up(const Step& step, size_t touched, size_t first, size_t last, size_t worker) const;

  size_t experts_count_, top_k_, width_;
  ActivationRows in_;
  ScratchRows<int32_t> experts_;
  ScratchRows<float> weights_, residual_;
  GatedUnit routed_;  // all experts' rows
  Linear down_;
  ActivationRows hidden_;  // [rows * top_k, width]: row token * top_k + rank
  GatedUnit shared_;       // empty without a shared expert
  Linear shared_down_, shared_sigmoid_;
  ActivationRows shared_hidden_;         // [rows, shared width]
  ScratchRows<float> shared_weight_;     // [1, rows]
  ScratchRows<uint32_t> touched_;        // [1, experts]: those that a row chose, ascending
  ScratchRows<uint32_t> group_start_;    // [1, experts + 1]: where an expert's pairs begin in the three below
  ScratchRows<uint32_t> token_of_;       // [1, rows * top_k]: grouped by expert, tokens ascending
  ScratchRows<uint32_t> pair_of_;        // [1, rows * top_k]: token * top_k + rank
  ScratchRows<uint32_t> place_of_pair_;  // [1, rows * top_k]: the inverse of pair_of_
  size_t down_tile_rows_;
  mutable uint32_t touched_last_ = 0;
};

class MlpOp {
 public:
  MlpOp(const plan::Mlp& op, Binder& binder);
  void run(Step& step) const;

 private:
  ScratchRows<float> residual_;
  const float* norm_;
  float eps_;
  ActivationRows normed_;
  GatedUnit unit_;
  ActivationRows hidden_;  // [rows, width]
  Linear down_;
};

// spec 3.8
class HeadOp {
 public:
  HeadOp(const plan::Head& op, Binder& binder);
  void run(Step& step) const;

 private:
  struct Best {
    float value;
    int32_t id;  // -1: a NaN among the tile's logits
  };

  ScratchRows<float> x_;
  const float* norm_;
  float eps_;
  ActivationRows hidden_;
  Linear linear_;
  ScratchRows<Best> best_;  // [tiles, rows]
};

class TapOp {
 public:
  TapOp(const plan::Tap& op, const plan::Plan& plan, Binder& binder);
  void run(Step& step) const;

 private:
  std::string name_;
  plan::DType dtype_;
  ScratchRows<float> f32_;
  ScratchRows<int32_t> i32_;
};

using BoundOp = std::variant<EmbedOp, NormProjectOp, GdnStepOp, AttendOp, ProjectResidualOp, RouteOp, MoeOp, MlpOp, HeadOp, TapOp>;

BoundOp bind(const plan::Op& op, const plan::Plan& plan, Binder& binder);

}  // namespace teapot::cpu
