// For tests: the tiny model with an MTP layer, plans of every kind, and drafts in double (spec 4). The layer has norms of its own and the
// matrices of the model's second layer.
#pragma once

#include "cpu/tiny_model.h"

namespace teapot::cpu {

struct TinyMtpModel : TinyModel {
  explicit TinyMtpModel(plan::WeightType type) : TinyModel(type) {
    layout.mtp_layers = 1;
    layout.hidden = kHidden;
    layout.verify_rows = 5;
    combine = matrix("combine", kHidden, 2 * kHidden);
    for (plan::VectorId* norm : {&embedding_norm, &hidden_norm, &mtp_norm0, &mtp_norm1, &mtp_final}) *norm = vector(kHidden, 1, 0.2f);
  }

  plan::Plan plan_of(plan::StepShape shape) const {
    const bool model = shape.kind == plan::PlanKind::kModel || shape.kind == plan::PlanKind::kModelMtp;
    plan::Plan p = model ? plan(shape.rows) : plan::Plan{};
    p.shape = shape;
    const auto buffer = [&](const char* name, uint32_t cols) {
      const auto found = std::ranges::find(p.buffers, name, &plan::Buffer::name);
      if (found == p.buffers.end()) p.buffers.push_back({name, plan::DType::kF32, cols});
      return static_cast<plan::BufferId>(std::ranges::find(p.buffers, name, &plan::Buffer::name) - p.buffers.begin());
    };
    const auto x = buffer("residual", kHidden), hidden = buffer("hidden", kHidden), bk = buffer("k", kKvHeads * kHeadDim),
               bv = buffer("v", kKvHeads * kHeadDim);
    if (shape.kind != plan::PlanKind::kModel) {
      p.ops.emplace_back(plan::MtpCombine{embed, model ? hidden : plan::kNoBuffer, embedding_norm, hidden_norm, kEps, combine, x});
    }
    if (shape.kind == plan::PlanKind::kDraft) {
      const auto bq = buffer("q", kHeads * kHeadDim), bg = buffer("q gate", kHeads * kHeadDim),
                 attended = buffer("attended", kHeads * kHeadDim);
      p.ops.emplace_back(plan::NormProject{x, mtp_norm0, kEps, {{q, bq}, {q_gate, bg}, {k, bk}, {v, bv}}});
      p.ops.emplace_back(plan::Attend{bq, bg, bk, bv, attended, q_norm, k_norm, kEps, kHeads, kRotary, kTheta, 1, 1});
      p.ops.emplace_back(plan::ProjectResidual{attended, attention_out, x});
      p.ops.emplace_back(plan::Mlp{mtp_norm1, kEps, mlp_gate, mlp_up, mlp_down, x});
      p.ops.emplace_back(plan::Head{x, mtp_final, kEps, embed, hidden});
    } else if (shape.kind != plan::PlanKind::kModel) {
      p.ops.emplace_back(plan::NormProject{x, mtp_norm0, kEps, {{k, bk}, {v, bv}}});
      p.ops.emplace_back(
          plan::Attend{plan::kNoBuffer, plan::kNoBuffer, bk, bv, plan::kNoBuffer, q_norm, k_norm, kEps, kHeads, kRotary, kTheta, 1, 1});
    }
    if (shape.kind != plan::PlanKind::kMtpState) p.ops.emplace_back(plan::KeepHidden{hidden, shape.kind == plan::PlanKind::kDraft});
    return p;
  }

  plan::MatrixId combine;
  plan::VectorId embedding_norm, hidden_norm, mtp_norm0, mtp_norm1, mtp_final;
};

// The MTP layer's rows, one after the other.
class TinyMtpReference : TinyReference {
 public:
  using M = TinyMtpModel;
  using TinyReference::Row;

  explicit TinyMtpReference(const TinyMtpModel& model) : TinyReference(model), m_(model) {}

  // What the model makes of the tokens, and the layer's rows of all but the first.
  Result run(const std::vector<int32_t>& tokens) {
    Result result = TinyReference::run(tokens);
    for (size_t t = 0; t + 1 < tokens.size(); ++t) draft(result.hidden[t], tokens[t + 1]);
    return result;
  }

  struct Draft {
    Row hidden, logits;
  };
  Draft draft(const Row& hidden_before, int32_t token) {
    const Row embedding = slice(weights_[static_cast<size_t>(m_.embed)], static_cast<size_t>(token) * M::kHidden, M::kHidden);
    Row both = rms(embedding, m_.embedding_norm, M::kEps);
    const Row normed = rms(hidden_before, m_.hidden_norm, M::kEps);
    both.insert(both.end(), normed.begin(), normed.end());
    Row x = times(m_.combine, both);
    add(x, times(m_.attention_out, attend(rms(x, m_.mtp_norm0, M::kEps), keys_.size(), keys_, values_)));
    add(x, feed_forward(rms(x, m_.mtp_norm1, M::kEps), m_.mlp_gate, m_.mlp_up, m_.mlp_down, 0));
    const Row hidden = rms(x, m_.mtp_final, M::kEps);
    return {hidden, times(m_.embed, hidden)};
  }

 private:
  const TinyMtpModel& m_;
  std::vector<Row> keys_, values_;
};

}  // namespace teapot::cpu
