// A plan: everything about one step that can be decided before the step runs.
//
// The model floor writes plans, a backend runs them; neither includes the other. An op is as big as a backend would like to fuse.
// Plans hold no pointers: buffers, weights and states are named by ids, which a backend resolves once, when it prepares the plan.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/weight.h"

namespace teapot::plan {

enum class BufferId : uint16_t {};
constexpr BufferId kNoBuffer{0xffff};

// What the rows of a sequence are in a step. All rows of a step are computed alike; kinds differ in what becomes of the state.
enum class StepKind : uint8_t {
  kPrefill,
  kDecode,
  kVerify,  // a known token and guesses at those after it: how many of them hold is said afterwards (StateStore::accept)
  kDraft    // of a draft plan: a guess is made at what follows, the state stays where it is
};

// What a plan computes for its rows.
enum class PlanKind : uint8_t {
  kModel,     // the layers and the head
  kModelMtp,  // the same, and the keys and values of the MTP layer (spec 4.3)
  kMtpState,  // those keys and values alone, for rows that ran as kModel
  kDraft      // the MTP layer and its head, of one token more than the state holds
};
constexpr std::array<std::string_view, 4> kPlanKindNames = {"model", "model+mtp", "mtp state", "draft"};
constexpr std::string_view name(PlanKind kind) { return kPlanKindNames[static_cast<size_t>(kind)]; }

// Two steps of equal shape run the same plan. Rows are tokens; whose they are is in the packet.
struct StepShape {
  uint32_t rows;
  PlanKind kind = PlanKind::kModel;

  friend auto operator<=>(const StepShape&, const StepShape&) = default;
};

enum class DType : uint8_t { kF32, kI32 };

// [rows of the step, cols], contiguous.
struct Buffer {
  std::string name;  // for the profiler and for error messages
  DType dtype;
  uint32_t cols;
};

// out = table[token] (spec 3.1).
struct Embed {
  MatrixId table;  // [vocab, hidden]
  BufferId out;    // [rows, hidden] f32: the residual
};

// RMSNorm of x, then several projections of the result that share its quantised form (spec 3.2).
struct NormProject {
  struct Projection {
    MatrixId matrix;  // [out cols, hidden]
    BufferId out;     // [rows, out cols] f32
  };
  BufferId x;     // [rows, hidden] f32, the residual; not changed
  VectorId norm;  // [hidden], 1+w folded
  float eps;
  std::vector<Projection> projections;
};

// One Gated DeltaNet mixer without its projections: convolution, normalisation, gates, recurrence, gated norm (spec 3.5).
struct GdnStep {
  BufferId qkv;            // [rows, 2*key_heads*dk + value_heads*dv] f32, before the convolution
  BufferId z;              // [rows, value_heads*dv] f32
  BufferId b;              // [rows, value_heads] f32
  BufferId a;              // [rows, value_heads] f32
  BufferId out;            // [rows, value_heads*dv] f32
  VectorId conv;           // [kernel, channels], transposed so that channels are contiguous; the last row multiplies the current token
  VectorId neg_exp_a_log;  // [value_heads], -exp(A_log)
  VectorId dt_bias;        // [value_heads]
  VectorId norm;           // [dv]
  float eps;               // of the gated norm
  uint32_t state_layer;    // index among the GDN layers: which state of the sequence it reads and writes
};

// Norms and rotates q and k, writes k and v to the cache, attends causally, applies the output gate (spec 3.4).
struct Attend {
  BufferId q;               // [rows, heads*head_dim] f32, or kNoBuffer: only keys and values are wanted
  BufferId gate;            // [rows, heads*head_dim] f32, or kNoBuffer (plain Qwen3)
  BufferId k, v;            // [rows, kv_heads*head_dim] f32
  BufferId out;             // [rows, heads*head_dim] f32, kNoBuffer with q
  VectorId q_norm, k_norm;  // [head_dim], 1+w folded
  float eps;
  uint32_t heads;
  uint32_t rotary_dim;  // the first rotary_dim of a head's elements are rotated in halves
  float rope_theta;
  uint32_t state_layer;         // index among the attention layers, the MTP layer's after the model's
  uint32_t first_position = 0;  // that is attended to
};

// residual += W in.
struct ProjectResidual {
  BufferId in;        // [rows, matrix cols] f32
  MatrixId matrix;    // [hidden, matrix cols]
  BufferId residual;  // [rows, hidden] f32
};

// RMSNorm, router, softmax over all experts, top-k (lowest index first among equals), renormalised over the chosen (spec 3.7).
struct Route {
  BufferId x;     // [rows, hidden] f32, the residual; not changed
  VectorId norm;  // [hidden]
  float eps;
  MatrixId router;   // [experts, hidden]
  BufferId normed;   // [rows, hidden] f32: what the experts read
  BufferId experts;  // [rows, top_k] i32, by falling probability
  BufferId weights;  // [rows, top_k] f32, sum 1 if renormalise
  bool renormalise;
};

// residual += sum over the chosen experts, in the order of their rank, + shared expert * sigmoid(its gate) (spec 3.7).
struct Moe {
  BufferId normed, experts, weights;  // from Route
  MatrixId gate, up;                  // [experts*width, hidden]
  MatrixId down;                      // [experts*hidden, width]
  MatrixId shared_gate, shared_up;    // [shared width, hidden] or kNoMatrix
  MatrixId shared_down;               // [hidden, shared width]
  MatrixId shared_sigmoid;            // [1, hidden]
  BufferId residual;                  // [rows, hidden] f32
  uint32_t expert_count;
};

// residual += down(silu(gate n) * up n), n = RMSNorm(residual).
struct Mlp {
  VectorId norm;
  float eps;
  MatrixId gate, up;  // [width, hidden]
  MatrixId down;      // [hidden, width]
  BufferId residual;  // [rows, hidden] f32
};

// Final norm and head, for the rows that the packet asks something of (spec 3.8).
struct Head {
  BufferId x;  // [rows, hidden] f32
  VectorId norm;
  float eps;
  MatrixId matrix;  // [vocab, hidden]; the embedding's, if tied
  BufferId hidden;  // [rows, hidden] f32: after the final norm (MTP's input)
};

// What the MTP layer reads: out = combine [RMSNorm(table[token]), RMSNorm(h)], h the final hidden state of the position before the row's
// (spec 4.1). It is that of the row before, where the sequence has one in `hidden`; else what KeepHidden left in its state; at position 0
// there is none, and out is of no account.
struct MtpCombine {
  MatrixId table;                        // [vocab, hidden]
  BufferId hidden;                       // [rows, hidden] f32: of this step's rows, or kNoBuffer: all are in the states
  VectorId embedding_norm, hidden_norm;  // [hidden], 1+w folded
  float eps;
  MatrixId combine;  // [hidden, 2*hidden]
  BufferId out;      // [rows, hidden] f32
};

// Final hidden states of the step's last rows, for MtpCombine in later steps.
struct KeepHidden {
  BufferId hidden;  // [rows, hidden] f32
  bool draft;       // those of the MTP layer: a guess after a guess reads them (spec 4.2)
};

// Hands a copy of a buffer to whoever asked for a plan with taps (goldens, `teapot logits --hidden`).
struct Tap {
  BufferId buffer;
  std::string name;  // "hidden.3": layer 3's output, "router.3": its chosen experts
};

using Op = std::variant<Embed, NormProject, GdnStep, Attend, ProjectResidual, Route, Moe, Mlp, Head, MtpCombine, KeepHidden, Tap>;

constexpr std::array<std::string_view, std::variant_size_v<Op>> kOpNames = {
    "embed", "norm_project", "gdn_step", "attend", "project_residual", "route", "moe", "mlp", "head", "mtp_combine", "keep_hidden", "tap"};
constexpr std::string_view op_name(const Op& op) { return kOpNames[op.index()]; }

struct Plan {
  StepShape shape;
  std::vector<Buffer> buffers;
  std::vector<Op> ops;  // in order
};

// What a sequence's state is made of: the same for all plans of a model.
struct StateLayout {
  uint32_t attention_layers;
  uint32_t kv_heads;
  uint32_t head_dim;
  uint32_t gdn_layers;
  uint32_t conv_kernel;  // the window keeps conv_kernel - 1 raw rows
  uint32_t key_heads, value_heads;
  uint32_t dk, dv;
  bool tiled_value_heads;  // value head h reads key head h % key_heads (GGUF order, spec 5.4), else h / (value_heads / key_heads)

  // Of speculation; 0: there is none.
  uint32_t mtp_layers = 0;   // 1: its keys and values stand with those of the attention layers, at the position of the token that is fed
  uint32_t hidden = 0;       // elements of a final hidden state, of which a state keeps the last kHiddenRows
  uint32_t verify_rows = 0;  // of a kVerify sequence, at most

  uint32_t kv_layers() const { return attention_layers + mtp_layers; }

  uint32_t conv_channels() const { return 2 * key_heads * dk + value_heads * dv; }
  uint32_t key_head(uint32_t value_head) const {
    return tiled_value_heads ? value_head % key_heads : value_head / (value_heads / key_heads);
  }
};

}  // namespace teapot::plan
