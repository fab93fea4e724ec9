// The ops of a plan as the CPU runs them: bound to buffers, weights and kernels, then run without look-up or allocation.
//
// All workers of the team run an op together: begin_row of its rows, then run(), then finish(), each done before the next begins. run()
// ends with a phase of claimed items, without a barrier after it: the executor joins finish() and the next op's rows to that barrier.
//
// A row's result depends on that row and its sequence's state only, computed in one order whatever shares the step: any chunking, any
// batch and any number of threads give the same bits.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cpu/ops/binder.h"
#include "cpu/ops/constants.h"
#include "cpu/ops/feed_forward.h"
#include "cpu/ops/worker.h"

namespace teapot::cpu {

// What an op has nothing to say to; each hides what it has.
struct OpDefaults {
  size_t row_floats() const { return 0; }               // that begin_row touches; 0: there is nothing to do
  void begin_row(const Step&, size_t, size_t) const {}  // row, worker
  void finish(Step&) const {}                           // on one worker
};

// spec 3.1
class EmbedOp : public OpDefaults {
 public:
  EmbedOp(const plan::Embed& op, Binder& binder);
  void run(Worker& worker) const;

 private:
  const PackedWeights& weights_;
  plan::MatrixId table_;
  ScratchRows<float> out_;
};

// spec 3.2 and the projections after it
class NormProjectOp : public OpDefaults {
 public:
  NormProjectOp(const plan::NormProject& op, Binder& binder);
  size_t row_floats() const { return x_.cols; }
  void begin_row(const Step& step, size_t row, size_t) const { normalise_row(step, row, x_, norm_, eps_, normed_); }
  void run(Worker& worker) const;

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
class GdnStepOp : public OpDefaults {
 public:
  GdnStepOp(const plan::GdnStep& op, Binder& binder);
  void run(Worker& worker) const;
  void finish(Step& step) const;

 private:
  struct Slice {  // consecutive channels of one head's q, k or v
    size_t channel, width;
  };
  struct HeadSlices {
    Slice q, k, v;
    bool first_of_key;  // of the value heads that share a key head
  };
  HeadSlices slices_of(size_t head) const;
  void convolve(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, size_t block, size_t count,
                const Slice& slice, float* out, size_t out_stride) const;
  void advance_window(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, const Slice& slice) const;
  void advance_windows(const Step& step, const plan::SequenceRows& rows, const SequenceState& state, const HeadSlices& slices) const;
  void gates(const Step& step, size_t row, size_t head, float& alpha, float& beta) const;
  template <class F>
  void with_state(const Step& step, const SequenceState& state, size_t head, float* wide, F&& fn) const;
  void use_logs(Worker& worker, const plan::SequenceRows& rows, const SequenceState& state, size_t head, bool first_of_key, float* strip,
                GdnHead& run) const;
  void run_head(Worker& worker, size_t sequence, size_t head, bool first, bool last) const;
  size_t heads_per_item(const Step& step) const;
  void run_split(Worker& worker) const;
  void fetch_state(const SequenceState& state, size_t head) const;

  plan::GdnStep op_;
  plan::StateLayout layout_;
  ScratchRows<float> qkv_, z_, b_, a_, out_;
  const float* conv_;  // per slice: [kernel, its channels]
  const float *neg_exp_a_log_, *dt_bias_, *norm_;
  bool split_, prefetch_;
  ScratchRows<float> conved_, alpha_, beta_;  // of the split way: [rows, conv channels], [rows, value heads]
};

// spec 3.4
class AttendOp : public OpDefaults {
 public:
  AttendOp(const plan::Attend& op, Binder& binder);
  size_t row_floats() const { return ((queries_ ? op_.heads : 0) + 2 * kv_heads_) * head_dim_; }
  void begin_row(const Step& step, size_t row, size_t worker) const;
  void run(Worker& worker) const;

 private:
  void rotate(const float* x, const float* cos, const float* sin, float* out) const;
  // A row's positions in the pieces that its partial results are made of: the same whoever computes them, whatever shares the step.
  struct Pieces {
    size_t positions;  // of a piece, a multiple of kKvBlock
    size_t count;
  };
  static Pieces pieces_of(size_t positions);
  size_t part_floats() const { return group_ * (head_dim_ + 2); }
  // The query heads that share a KV head, of one row, over the block of positions that begins at `at`: joined to out.
  void attend_block(const Step& step, size_t row, size_t kv_head, size_t at, size_t end, float* scratch, const AttendPart& out) const;
  // All blocks of rows [first, last).
  void attend_rows(const Step& step, size_t first, size_t last, size_t kv_head, size_t worker) const;
  // One piece of one row by one of several workers; the last one joins the pieces.
  void attend_split(const Step& step, size_t row, size_t kv_head, size_t piece, size_t worker) const;
  void finish_heads(const Step& step, size_t row, size_t kv_head, const float* sums) const;
  AttendPart stored(const Step& step, size_t row, size_t kv_head, size_t piece) const;

  plan::Attend op_;
  size_t head_dim_, kv_heads_, group_;  // group: query heads of a KV head
  bool queries_;                        // else keys and values are stored, nothing more
  bool split_;                          // pieces of a row are work for several workers
  size_t row_group_;                    // else so many rows are work for one
  ScratchRows<float> pieces_;           // [rows * kv heads * pieces], group * (head_dim + 2) each
  ScratchRows<uint32_t> left_;          // [rows], kv heads: pieces that are not there yet
  ScratchRows<float> q_, gate_, k_, v_, out_;
  bool gated_;
  const float *q_norm_, *k_norm_;
  float scale_;
  const float* inv_freq_;  // [rotary_dim / 2]
};

class ProjectResidualOp : public OpDefaults {
 public:
  ProjectResidualOp(const plan::ProjectResidual& op, Binder& binder);
  size_t row_floats() const { return in_.int8 ? in_.f32.cols : 0; }
  void begin_row(const Step& step, size_t row, size_t) const { in_.quantize(step, row); }
  void run(Worker& worker) const;

 private:
  ActivationRows in_;
  Linear linear_;
  ScratchRows<float> residual_;
};

// The k largest of the softmax over all logits, by falling probability, lowest index first among equals; weights of sum 1 if
// renormalise. Changes the logits.
void choose_experts(std::span<float> logits, bool renormalise, std::span<int32_t> experts, std::span<float> weights);

// spec 3.7: the router and its experts, one op since the shared expert need not wait for the router.
class MoeOp : public OpDefaults {
 public:
  MoeOp(const plan::Route& route, const plan::Moe& op, Binder& binder);
  size_t row_floats() const { return x_.cols; }
  void begin_row(const Step& step, size_t row, size_t) const { normalise_row(step, row, x_, norm_, eps_, in_); }
  void run(Worker& worker) const;
  uint32_t touched_last() const { return touched_last_; }  // distinct experts of the last step

 private:
  void shared_item(const Step& step, size_t item, size_t worker) const;
  void routed_item(const Step& step, size_t item, size_t worker) const;
  void run_shared(Worker& worker, size_t items) const;
  void choose(const Step& step, size_t row) const;
  uint32_t group(const Step& step) const;
  void add_up(const Step& step, size_t first, size_t last, size_t worker) const;

  ScratchRows<float> x_, logits_;
  const float* norm_;
  float eps_;
  Linear router_;
  bool renormalise_;
  size_t experts_count_, top_k_, width_;
  ActivationRows in_;  // the normed rows
  ScratchRows<int32_t> experts_;
  ScratchRows<float> weights_, residual_;
  GatedUnit routed_;  // all experts' rows
  Linear down_;
  ActivationRows hidden_;  // [rows * top_k, width]: row token * top_k + rank
  GatedUnit shared_;       // empty without a shared expert
  Linear shared_down_, shared_sigmoid_;
  ActivationRows shared_hidden_;         // [rows, shared width]
  ScratchRows<float> shared_weight_;     // [1, rows]
  bool serial_shared_ = false;           // the shared expert has phases of its own
  ScratchRows<float> shared_out_;        // [rows, hidden]: what they leave
  ScratchRows<uint32_t> touched_;        // [1, experts]: those that a row chose, ascending
  ScratchRows<uint32_t> group_start_;    // [1, experts + 1]: where an expert's pairs begin in the three below
  ScratchRows<uint32_t> token_of_;       // [1, rows * top_k]: grouped by expert, tokens ascending
  ScratchRows<uint32_t> pair_of_;        // [1, rows * top_k]: token * top_k + rank
  ScratchRows<uint32_t> place_of_pair_;  // [1, rows * top_k]: the inverse of pair_of_
  size_t routed_tiles_;                  // of an expert's gate and up
  size_t down_tile_rows_;
  Prefetch prefetch_;
  mutable uint32_t touched_last_ = 0;  // by one worker, before those that read it go on
};

class MlpOp : public OpDefaults {
 public:
  MlpOp(const plan::Mlp& op, Binder& binder);
  size_t row_floats() const { return residual_.cols; }
  void begin_row(const Step& step, size_t row, size_t) const { normalise_row(step, row, residual_, norm_, eps_, normed_); }
  void run(Worker& worker) const;

 private:
  ScratchRows<float> residual_;
  const float* norm_;
  float eps_;
  ActivationRows normed_;
  GatedUnit unit_;
  ActivationRows hidden_;  // [rows, width]
  Linear down_;
};

// Whether all logits of such a row are kept until the step's end.
constexpr bool keeps_logits(plan::RowReturn asked) { return asked == plan::RowReturn::kLogits || asked == plan::RowReturn::kDraft; }

// spec 3.8
class HeadOp : public OpDefaults {
 public:
  HeadOp(const plan::Head& op, Binder& binder);
  size_t row_floats() const { return x_.cols; }
  void begin_row(const Step& step, size_t row, size_t) const { normalise_row(step, row, x_, norm_, eps_, hidden_); }
  void run(Worker& worker) const;
  void finish(Step& step) const;

 private:
  // The best of a row among the ids that a worker has seen, in whatever order it saw them.
  struct Best {
    uint32_t count;
    bool nan;                              // among the logits seen
    plan::Candidate kept[plan::kMaxTopK];  // [count], in the order of candidates

    void clear();
    // k: so many are kept. z: the logits of the ids [first, last); -inf: the id is out.
    void search(const KernelTable& kernels, const float* z, size_t first, size_t last, size_t k);
    void join(const Best& other, size_t k);

   private:
    bool room_for(const plan::Candidate& candidate, size_t k) const;
    void add(const plan::Candidate& candidate, size_t k);
  };
  Best* best_of(const Step& step, size_t worker) const;  // [rows that return something]
  void compare(const Step& step, uint32_t row, size_t first, size_t last, float* z, Best& best) const;
  void choose(Step& step) const;
  static bool any(const Step& step, bool (*asked)(plan::RowReturn));

  ScratchRows<float> x_;
  const float* norm_;
  float eps_;
  ActivationRows hidden_;
  Linear linear_;
  bool full_logits_;
  size_t best_offset_;       // in a worker's scratch, after a tile's logits
  ScratchRows<float> sums_;  // of a row's exponentials, block by block
};

// spec 4.1
class MtpCombineOp : public OpDefaults {
 public:
  MtpCombineOp(const plan::MtpCombine& op, Binder& binder);
  size_t row_floats() const { return in_.f32.cols; }
  void begin_row(const Step& step, size_t row, size_t) const;
  void run(Worker& worker) const;

 private:
  const float* hidden_before(const Step& step, size_t row) const;

  const PackedWeights& weights_;
  plan::MatrixId table_;
  size_t width_;  // of a hidden state
  const float *embedding_norm_, *hidden_norm_;
  float eps_;
  bool from_step_;             // hidden states of this step's rows are there
  ScratchRows<float> hidden_;  // those
  ActivationRows in_;          // [rows, 2 * width]
  Linear linear_;
  ScratchRows<float> out_;
};

class KeepHiddenOp : public OpDefaults {
 public:
  KeepHiddenOp(const plan::KeepHidden& op, Binder& binder) : hidden_(binder.f32(op.hidden)), draft_(op.draft) {}
  void run(Worker&) const {}
  void finish(Step& step) const;

 private:
  ScratchRows<float> hidden_;
  bool draft_;
};

class TapOp : public OpDefaults {
 public:
  TapOp(const plan::Tap& op, const plan::Plan& plan, Binder& binder);
  void run(Worker&) const {}
  void finish(Step& step) const;

 private:
  std::string name_;
  plan::DType dtype_;
  ScratchRows<float> f32_;
  ScratchRows<int32_t> i32_;
};

using BoundOp =
    std::variant<EmbedOp, NormProjectOp, GdnStepOp, AttendOp, ProjectResidualOp, MoeOp, MlpOp, HeadOp, MtpCombineOp, KeepHiddenOp, TapOp>;

// What is bound as one: an op of the plan, or a Route with the Moe that it feeds.
struct OpGroup {
  const plan::Op* op;
  const plan::Moe* experts;  // of a Route, else null
  uint32_t index;            // in the plan; of a pair the Moe's
};

// The groups of a plan in the order they run. kInternal when a Route has no Moe of its own after it (taps may stand between), or vice
// versa.
Result<std::vector<OpGroup>> group_ops(const plan::Plan& plan);

BoundOp bind(const OpGroup& group, const plan::Plan& plan, Binder& binder);

}  // namespace teapot::cpu
