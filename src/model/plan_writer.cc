#include "model/plan_writer.h"

#include <fmt/format.h>

namespace teapot::model {
namespace {

using plan::BufferId;
using plan::DType;
using plan::kNoBuffer;

// All layers run over the same buffers: what a layer leaves behind is in the residual only.
class PlanWriter {
 public:
  PlanWriter(const Model& model, plan::StepShape shape, PlanOptions options)
      : config_(model.config),
        ids_(model.ids),
        layout_(model.layout),
        eps_(static_cast<float>(model.config.rms_norm_eps)),
        options_(options) {
    plan_.shape = shape;
  }

  plan::Plan write() {
    residual_ = buffer("residual", config_.hidden);
    attention_buffers();
    if (plan_.shape.kind == plan::PlanKind::kMtpState) {
      mtp_input(kNoBuffer);
      mtp_state();
      return std::move(plan_);
    }
    moe_buffers();
    final_hidden_ = buffer("hidden_final", config_.hidden);
    if (plan_.shape.kind == plan::PlanKind::kDraft) {
      draft();
      return std::move(plan_);
    }
    gdn_buffers();
    plan_.ops.emplace_back(plan::Embed{.table = ids_.embedding, .out = residual_});
    tap(residual_, "hidden.0");
    for (size_t i = 0; i < ids_.layers.size(); ++i) layer(ids_.layers[i], i);
    plan_.ops.emplace_back(plan::Head{.x = residual_, .norm = ids_.final_norm, .eps = eps_, .matrix = ids_.head, .hidden = final_hidden_});
    tap(final_hidden_, "hidden_final");
    if (plan_.shape.kind == plan::PlanKind::kModelMtp) {
      mtp_input(final_hidden_);
      mtp_state();
    }
    if (layout_.mtp_layers > 0) plan_.ops.emplace_back(plan::KeepHidden{.hidden = final_hidden_, .draft = false});
    return std::move(plan_);
  }

 private:
  BufferId buffer(std::string name, uint32_t cols, DType dtype = DType::kF32) {
    plan_.buffers.push_back({std::move(name), dtype, cols});
    return static_cast<BufferId>(plan_.buffers.size() - 1);
  }

  void tap(BufferId tapped, std::string name) {
    if (options_.taps) plan_.ops.emplace_back(plan::Tap{tapped, std::move(name)});
  }

  void attention_buffers() {
    if (layout_.kv_layers() == 0) return;
    const uint32_t heads = config_.heads * config_.head_dim;
    const uint32_t kv_heads = config_.kv_heads * config_.head_dim;
    q_ = buffer("q", heads);
    if (config_.attention_gate) gate_ = buffer("gate", heads);
    k_ = buffer("k", kv_heads);
    v_ = buffer("v", kv_heads);
    attended_ = buffer("attended", heads);
  }

  void gdn_buffers() {
    if (config_.layer_count(Mixer::kGdn) == 0) return;
    qkv_ = buffer("qkv", config_.conv_channels());
    z_ = buffer("z", config_.value_dim());
    b_ = buffer("b", config_.value_heads);
    a_ = buffer("a", config_.value_heads);
    // Both kinds of mixers end in a buffer that the next op consumes: of equal size, they share it.
    const bool shared = attended_ != kNoBuffer && config_.value_dim() == config_.heads * config_.head_dim;
    recalled_ = shared ? attended_ : buffer("recalled", config_.value_dim());
  }

  void moe_buffers() {
    if (config_.layer_count(Ffn::kMoe) == 0) return;
    normed_ = buffer("normed", config_.hidden);
    experts_ = buffer("experts", config_.top_k, DType::kI32);
    expert_weights_ = buffer("expert_weights", config_.top_k);
  }

  void layer(const LayerWeights& layer, size_t index) {
    if (const auto* attention_ids = std::get_if<AttentionWeights>(&layer.mixer)) {
      attention(*attention_ids, layer.mixer_norm);
    } else {
      gdn(std::get<GdnWeights>(layer.mixer), layer.mixer_norm);
    }
    ffn(layer, index);
    tap(residual_, fmt::format("hidden.{}", index + 1));
  }

  void ffn(const LayerWeights& layer, size_t index) {
    if (const auto* mlp = std::get_if<MlpWeights>(&layer.ffn)) {
      plan_.ops.emplace_back(
          plan::Mlp{.norm = layer.ffn_norm, .eps = eps_, .gate = mlp->gate, .up = mlp->up, .down = mlp->down, .residual = residual_});
    } else {
      moe(std::get<MoeWeights>(layer.ffn), layer.ffn_norm, index);
    }
  }

  void attention(const AttentionWeights& w, plan::VectorId norm) {
    project(w, norm, true);
    plan_.ops.emplace_back(attend(w, attention_layers_++));
    plan_.ops.emplace_back(plan::ProjectResidual{.in = attended_, .matrix = w.o, .residual = residual_});
  }

  // queries: and gates, not only keys and values.
  void project(const AttentionWeights& w, plan::VectorId norm, bool queries) {
    plan::NormProject project{.x = residual_, .norm = norm, .eps = eps_, .projections = {}};
    if (queries) project.projections.push_back({w.q, q_});
    project.projections.push_back({w.k, k_});
    project.projections.push_back({w.v, v_});
    if (queries && w.gate != plan::kNoMatrix) project.projections.push_back({w.gate, gate_});
    plan_.ops.emplace_back(std::move(project));
  }

  plan::Attend attend(const AttentionWeights& w, uint32_t state_layer) const {
    return {.q = q_,
            .gate = w.gate == plan::kNoMatrix ? kNoBuffer : gate_,
            .k = k_,
            .v = v_,
            .out = attended_,
            .q_norm = w.q_norm,
            .k_norm = w.k_norm,
            .eps = eps_,
            .heads = config_.heads,
            .rotary_dim = config_.rotary_dim,
            .rope_theta = static_cast<float>(config_.rope_theta),
            .state_layer = state_layer};
  }

  // The MTP layer's row of a token stands at the token's position (spec 4.3 has it one earlier, which rotation cannot tell): then it is
  // settled with the token, like the other layers' rows. The first token has none.
  plan::Attend mtp_attend(const AttentionWeights& w) const {
    plan::Attend op = attend(w, layout_.attention_layers);
    op.first_position = 1;
    return op;
  }

  const LayerWeights& mtp_layer() const { return ids_.mtp->layers.front(); }

  void mtp_input(BufferId hidden) {
    const MtpWeights& mtp = *ids_.mtp;
    plan_.ops.emplace_back(plan::MtpCombine{.table = mtp.embedding,
                                            .hidden = hidden,
                                            .embedding_norm = mtp.embedding_norm,
                                            .hidden_norm = mtp.hidden_norm,
                                            .eps = eps_,
                                            .combine = mtp.combine,
                                            .out = residual_});
  }

  // A row that nobody drafts from leaves nothing but its key and value.
  void mtp_state() {
    const auto& w = std::get<AttentionWeights>(mtp_layer().mixer);
    project(w, mtp_layer().mixer_norm, false);
    plan::Attend op = mtp_attend(w);
    op.q = op.gate = op.out = kNoBuffer;
    plan_.ops.emplace_back(op);
  }

  void draft() {
    mtp_input(kNoBuffer);
    const auto& w = std::get<AttentionWeights>(mtp_layer().mixer);
    project(w, mtp_layer().mixer_norm, true);
    plan_.ops.emplace_back(mtp_attend(w));
    plan_.ops.emplace_back(plan::ProjectResidual{.in = attended_, .matrix = w.o, .residual = residual_});
    ffn(mtp_layer(), ids_.layers.size());
    plan_.ops.emplace_back(
        plan::Head{.x = residual_, .norm = ids_.mtp->final_norm, .eps = eps_, .matrix = ids_.mtp->head, .hidden = final_hidden_});
    tap(final_hidden_, "mtp_hidden");
    plan_.ops.emplace_back(plan::KeepHidden{.hidden = final_hidden_, .draft = true});
  }

  void gdn(const GdnWeights& w, plan::VectorId norm) {
    plan_.ops.emplace_back(
        plan::NormProject{.x = residual_, .norm = norm, .eps = eps_, .projections = {{w.qkv, qkv_}, {w.z, z_}, {w.b, b_}, {w.a, a_}}});
    plan_.ops.emplace_back(plan::GdnStep{
        .qkv = qkv_,
        .z = z_,
        .b = b_,
        .a = a_,
        .out = recalled_,
        .conv = w.conv,
        .neg_exp_a_log = w.neg_exp_a_log,
        .dt_bias = w.dt_bias,
        .norm = w.norm,
        .eps = eps_,
        .state_layer = gdn_layers_++,
    });
    plan_.ops.emplace_back(plan::ProjectResidual{.in = recalled_, .matrix = w.out, .residual = residual_});
  }

  void moe(const MoeWeights& w, plan::VectorId norm, size_t index) {
    plan_.ops.emplace_back(plan::Route{
        .x = residual_,
        .norm = norm,
        .eps = eps_,
        .router = w.router,
        .normed = normed_,
        .experts = experts_,
        .weights = expert_weights_,
        .renormalise = config_.renormalise,
    });
    tap(experts_, fmt::format("router.{}", index));
    plan_.ops.emplace_back(plan::Moe{
        .normed = normed_,
        .experts = experts_,
        .weights = expert_weights_,
        .gate = w.gate,
        .up = w.up,
        .down = w.down,
        .shared_gate = w.shared.gate,
        .shared_up = w.shared.up,
        .shared_down = w.shared.down,
        .shared_sigmoid = w.shared_sigmoid,
        .residual = residual_,
        .expert_count = config_.experts,
    });
  }

  const ModelConfig& config_;
  const ModelWeights& ids_;
  const plan::StateLayout& layout_;
  const float eps_;
  const PlanOptions options_;
  plan::Plan plan_;
  BufferId residual_ = kNoBuffer;
  BufferId q_ = kNoBuffer, gate_ = kNoBuffer, k_ = kNoBuffer, v_ = kNoBuffer, attended_ = kNoBuffer;
  BufferId qkv_ = kNoBuffer, z_ = kNoBuffer, b_ = kNoBuffer, a_ = kNoBuffer, recalled_ = kNoBuffer;
  BufferId final_hidden_ = kNoBuffer;
  BufferId normed_ = kNoBuffer, experts_ = kNoBuffer, expert_weights_ = kNoBuffer;
  uint32_t attention_layers_ = 0, gdn_layers_ = 0;
};

}  // namespace

plan::Plan write_plan(const Model& model, plan::StepShape shape, PlanOptions options) { return PlanWriter(model, shape, options).write(); }

}  // namespace teapot::model
