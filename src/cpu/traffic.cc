#include "cpu/traffic.h"

#include <algorithm>

namespace teapot::cpu {
namespace {

using plan::OpTraffic;
using plan::TrafficPart;

constexpr uint64_t kF32 = sizeof(float);

class Counter {
 public:
  Counter(const plan::Plan& plan, const Binder::Environment& environment, StateTypes types, const StepFacts& facts,
          std::vector<OpTraffic>& out)
      : plan_(plan), environment_(environment), types_(types), facts_(facts), out_(out) {}

  void count() {
    for (op_ = 0; op_ < plan_.ops.size(); ++op_) {
      std::visit([this](const auto& op) { add(op); }, plan_.ops[op_]);
    }
  }

 private:
  const plan::Matrix& matrix(plan::MatrixId id) const { return environment_.weights.table()[id]; }
  uint64_t vector_bytes(plan::VectorId id) const { return environment_.weights.table()[id].values.size() * kF32; }

  OpTraffic& entry(TrafficPart part) { return out_.emplace_back(OpTraffic{.op = static_cast<uint32_t>(op_), .part = part}); }

  uint64_t hidden_bytes() const { return environment_.layout.hidden * kF32; }
  uint64_t matrix_bytes(plan::MatrixId id) const { return environment_.weights.matrix_bytes(id); }

  // The whole matrix for `rows` rows of activations.
  void multiply(OpTraffic& traffic, plan::MatrixId id, uint64_t rows, bool f32_only = false) const {
    traffic.weight_bytes += matrix_bytes(id);
    macs(traffic, id, matrix(id).rows * rows, f32_only);
  }
  void macs(OpTraffic& traffic, plan::MatrixId id, uint64_t dot_products, bool f32_only) const {
    const plan::Matrix& m = matrix(id);
    const auto& kernels = environment_.weights.tiled(id) ? environment_.kernels.tiled_q8 : environment_.kernels.matmul_q8;
    const bool int8 = environment_.int8_activations && !f32_only && kernels[static_cast<size_t>(m.type)] != nullptr;
    (int8 ? traffic.int8_macs : traffic.f32_macs) += dot_products * m.cols;
  }

  // Projections belong to the mixer that they feed: the nearest one in the plan, before or after.
  TrafficPart projections_of_mixer() const {
    const auto is_gdn = [&](size_t i) { return std::holds_alternative<plan::GdnStep>(plan_.ops[i]); };
    const auto is_attend = [&](size_t i) { return std::holds_alternative<plan::Attend>(plan_.ops[i]); };
    for (size_t distance = 1; distance < plan_.ops.size(); ++distance) {
      for (const size_t i : {op_ - distance, op_ + distance}) {  // below 0: wraps to a large one
        if (i >= plan_.ops.size()) continue;
        if (is_gdn(i)) return TrafficPart::kGdnProjections;
        if (is_attend(i)) return TrafficPart::kAttentionProjections;
      }
    }
    return TrafficPart::kAttentionProjections;
  }

  void add(const plan::Embed& op) {
    const plan::Matrix& table = matrix(op.table);
    entry(TrafficPart::kEmbedding).weight_bytes = facts_.rows * row_bytes(table.type, table.cols);
  }

  void add(const plan::NormProject& op) {
    OpTraffic& traffic = entry(projections_of_mixer());
    traffic.weight_bytes += vector_bytes(op.norm);
    for (const plan::NormProject::Projection& projection : op.projections) multiply(traffic, projection.matrix, facts_.rows);
  }

  void add(const plan::GdnStep& op) {
    const plan::StateLayout& layout = environment_.layout;
    OpTraffic& traffic = entry(TrafficPart::kGdn);
    traffic.weight_bytes = vector_bytes(op.conv) + vector_bytes(op.neg_exp_a_log) + vector_bytes(op.dt_bias) + vector_bytes(op.norm);
    const uint64_t state = uint64_t{layout.value_heads} * layout.dk * layout.dv;
    const uint64_t log_row = layout.key_heads * layout.dk + layout.value_heads * (layout.dv + 1);
    const uint64_t kept = layout.conv_kernel - 1;
    uint64_t replayed = 0;
    for (size_t s = 0; s < facts_.sequences.size(); ++s) {
      const uint64_t rows = facts_.sequences[s].rows, pending = facts_.pending[s];
      const bool verify = facts_.sequences[s].kind == plan::StepKind::kVerify;
      const bool written = !verify || pending > 0;
      traffic.state_bytes += (written ? 2 : 1) * state * (types_.bf16_recurrent ? sizeof(uint16_t) : kF32) +
                             ((verify ? rows : 0) + pending) * log_row * kF32 +
                             (kept + (verify ? rows : std::min(kept, rows))) * layout.conv_channels() * kF32;
      replayed += pending;
    }
    // Prediction, update and read-out of the state; the convolution; the update alone of tokens that it lacked.
    traffic.f32_macs = facts_.rows * (3 * state + uint64_t{layout.conv_kernel} * layout.conv_channels()) + replayed * state;
  }

  void add(const plan::Attend& op) {
    const plan::StateLayout& layout = environment_.layout;
    OpTraffic& traffic = entry(TrafficPart::kAttention);
    traffic.weight_bytes = (op.q == plan::kNoBuffer ? 0 : vector_bytes(op.q_norm)) + vector_bytes(op.k_norm);
    // Of so many positions, those that are attended to.
    const auto visible = [&](uint64_t positions) { return std::max<uint64_t>(positions, op.first_position) - op.first_position; };
    const auto pairs_of = [](uint64_t positions) { return positions * (positions + 1) / 2; };  // of a query and a key that it may see
    const uint64_t position_bytes = 2 * uint64_t{layout.kv_heads} * layout.head_dim * kv_bytes(types_.kv);
    for (const plan::SequenceRows& sequence : facts_.sequences) {
      const uint64_t before = visible(sequence.position), after = visible(uint64_t{sequence.position} + sequence.rows);
      if (op.q == plan::kNoBuffer) {
        traffic.kv_bytes += (after - before) * position_bytes;
        continue;
      }
      traffic.kv_bytes += after * position_bytes;
      traffic.f32_macs += 2 * (pairs_of(after) - pairs_of(before)) * op.heads * layout.head_dim;
    }
  }

  void add(const plan::ProjectResidual& op) { multiply(entry(projections_of_mixer()), op.matrix, facts_.rows); }

  void add(const plan::Route& op) {
    OpTraffic& traffic = entry(TrafficPart::kRouter);
    traffic.weight_bytes += vector_bytes(op.norm);
    multiply(traffic, op.router, facts_.rows, true);
  }

  void add(const plan::Moe& op) {
    OpTraffic& routed = entry(TrafficPart::kExperts);
    const uint64_t top_k = plan_.buffers[static_cast<size_t>(op.experts)].cols;
    for (const plan::MatrixId id : {op.gate, op.up, op.down}) {
      routed.weight_bytes += matrix_bytes(id) / op.expert_count * facts_.touched_experts[op_];
      macs(routed, id, matrix(id).rows / op.expert_count * facts_.rows * top_k, false);
    }
    if (op.shared_gate == plan::kNoMatrix) return;
    OpTraffic& shared = entry(TrafficPart::kSharedExpert);
    for (const plan::MatrixId id : {op.shared_gate, op.shared_up, op.shared_down, op.shared_sigmoid}) multiply(shared, id, facts_.rows);
  }

  void add(const plan::Mlp& op) {
    OpTraffic& traffic = entry(TrafficPart::kMlp);
    traffic.weight_bytes += vector_bytes(op.norm);
    for (const plan::MatrixId id : {op.gate, op.up, op.down}) multiply(traffic, id, facts_.rows);
  }

  void add(const plan::Head& op) {
    if (facts_.asked == 0) return;
    OpTraffic& traffic = entry(TrafficPart::kHead);
    traffic.weight_bytes += vector_bytes(op.norm) + matrix_bytes(op.matrix) / matrix(op.matrix).rows * facts_.head_rows;
    macs(traffic, op.matrix, facts_.head_rows * facts_.asked, false);
  }

  void add(const plan::MtpCombine& op) {
    const plan::Matrix& table = matrix(op.table);
    OpTraffic& traffic = entry(TrafficPart::kMtp);
    traffic.weight_bytes = vector_bytes(op.embedding_norm) + vector_bytes(op.hidden_norm) + facts_.rows * row_bytes(table.type, table.cols);
    traffic.state_bytes = (op.hidden == plan::kNoBuffer ? facts_.rows : facts_.sequences.size()) * hidden_bytes();
    multiply(traffic, op.combine, facts_.rows);
  }

  void add(const plan::KeepHidden&) {
    OpTraffic& traffic = entry(TrafficPart::kMtp);
    for (const plan::SequenceRows& sequence : facts_.sequences) {
      traffic.state_bytes += std::min(sequence.rows, plan::kHiddenRows) * hidden_bytes();
    }
  }

  void add(const plan::Tap&) {}

  const plan::Plan& plan_;
  const Binder::Environment& environment_;
  const StateTypes types_;
  const StepFacts& facts_;
  std::vector<OpTraffic>& out_;
  size_t op_ = 0;
};

}  // namespace

void count_traffic(const plan::Plan& plan, const Binder::Environment& environment, StateTypes types, const StepFacts& facts,
                   std::vector<plan::OpTraffic>& out) {
  out.clear();
  Counter(plan, environment, types, facts, out).count();
}

}  // namespace teapot::cpu
