#include "model/gguf_tensors.h"

#include <algorithm>

namespace teapot::model {
namespace {

std::string block_prefix(size_t index) { return fmt::format("blk.{}.", index); }

class Naming {
 public:
  Naming(const ModelConfig& config, const Checkpoint& checkpoint) : config_(config), checkpoint_(checkpoint) {}

  LayerTensors block(size_t index, LayerKind kind) const {
    const std::string block = block_prefix(index);
    // Plain Qwen3 calls the same norm ffn_norm.
    LayerTensors tensors{
        .mixer_norm = norm(block + "attn_norm.weight"),
        .ffn_norm = norm(block + (is_hybrid(config_.family) ? "post_attention_norm.weight" : "ffn_norm.weight")),
        .mixer = {},
        .ffn = {},
    };
    if (kind.mixer == Mixer::kAttention) {
      tensors.mixer = attention(block);
    } else {
      tensors.mixer = gdn(block);
    }
    if (kind.ffn == Ffn::kMlp) {
      tensors.ffn = mlp(block, "", config_.intermediate);
    } else {
      tensors.ffn = moe(block);
    }
    return tensors;
  }

  bool has(const std::string& name) const { return checkpoint_.find(name) != nullptr; }
  TensorSpec norm(std::string name) const { return {std::move(name), {hidden()}}; }
  TensorSpec vocabulary(std::string name) const { return {std::move(name), {config_.vocab, hidden()}}; }
  TensorSpec combine(std::string name) const { return {std::move(name), {hidden(), 2 * hidden()}}; }

 private:
  uint64_t hidden() const { return config_.hidden; }

  // Some converters keep dimensions of one, others drop them: both shapes hold the same bytes.
  TensorSpec either_shape(std::string name, std::vector<uint64_t> shape, std::vector<uint64_t> alternative) const {
    const Tensor* tensor = checkpoint_.find(name);
    const bool other = tensor != nullptr && tensor->shape == alternative;
    return {std::move(name), other ? std::move(alternative) : std::move(shape)};
  }

  AttentionTensors attention(const std::string& block) const {
    const uint64_t q = config_.heads * config_.head_dim;
    const uint64_t kv = config_.kv_heads * config_.head_dim;
    return {
        .q = {block + "attn_q.weight", {config_.attention_gate ? 2 * q : q, hidden()}},
        .k = {block + "attn_k.weight", {kv, hidden()}},
        .v = {block + "attn_v.weight", {kv, hidden()}},
        .o = {block + "attn_output.weight", {hidden(), q}},
        .q_norm = {block + "attn_q_norm.weight", {config_.head_dim}},
        .k_norm = {block + "attn_k_norm.weight", {config_.head_dim}},
    };
  }

  GdnTensors gdn(const std::string& block) const {
    const uint64_t values = config_.value_dim();
    const uint64_t heads = config_.value_heads;
    const uint64_t channels = config_.conv_channels();
    GdnTensors tensors{
        .qkv = {block + "attn_qkv.weight", {channels, hidden()}},
        .z = TensorSpec{block + "attn_gate.weight", {values, hidden()}},
        .b = {block + "ssm_beta.weight", {heads, hidden()}},
        .a = TensorSpec{block + "ssm_alpha.weight", {heads, hidden()}},
        .conv = either_shape(block + "ssm_conv1d.weight", {channels, config_.conv_kernel}, {channels, 1, config_.conv_kernel}),
        .decay = {block + "ssm_a", {heads}},
        .dt_bias = {block + (has(block + "ssm_dt") ? "ssm_dt" : "ssm_dt.bias"), {heads}},
        .norm = {block + "ssm_norm.weight", {config_.dv}},
        .out = {block + "ssm_out.weight", {hidden(), values}},
    };
    if (has(block + "ssm_in.weight")) {
      tensors.qkv = {block + "ssm_in.weight", {channels + values, hidden()}};
      tensors.z.reset();
    }
    if (has(block + "ssm_ba.weight")) {
      tensors.b = {block + "ssm_ba.weight", {2 * heads, hidden()}};
      tensors.a.reset();
    }
    return tensors;
  }

  MlpTensors mlp(const std::string& block, const std::string& suffix, uint64_t width) const {
    return {
        .gate = {fmt::format("{}ffn_gate{}.weight", block, suffix), {width, hidden()}},
        .up = {fmt::format("{}ffn_up{}.weight", block, suffix), {width, hidden()}},
        .down = {fmt::format("{}ffn_down{}.weight", block, suffix), {hidden(), width}},
    };
  }

  MoeTensors moe(const std::string& block) const {
    const uint64_t experts = config_.experts;
    const uint64_t width = config_.expert_width;
    MoeTensors tensors{.router = {block + "ffn_gate_inp.weight", {experts, hidden()}}, .experts = {}, .shared = {}};
    const TensorSpec down{block + "ffn_down_exps.weight", {experts, hidden(), width}};
    if (has(block + "ffn_gate_up_exps.weight")) {
      tensors.experts = FusedExperts{.gate_up = {block + "ffn_gate_up_exps.weight", {experts, 2 * width, hidden()}}, .down = down};
    } else {
      tensors.experts = StackedExperts{
          .gate = {block + "ffn_gate_exps.weight", {experts, width, hidden()}},
          .up = {block + "ffn_up_exps.weight", {experts, width, hidden()}},
          .down = down,
      };
    }
    if (config_.shared_width > 0) {
      tensors.shared = SharedExpertTensors{
          .mlp = mlp(block, "_shexp", config_.shared_width),
          .sigmoid = either_shape(block + "ffn_gate_inp_shexp.weight", {hidden()}, {1, hidden()}),
      };
    }
    return tensors;
  }

  const ModelConfig& config_;
  const Checkpoint& checkpoint_;
};

bool has_mtp(const ModelConfig& config, const Checkpoint& checkpoint) {
  return config.mtp_layers > 0 && checkpoint.find(block_prefix(config.layers.size()) + "nextn.eh_proj.weight") != nullptr;
}

// A head of the MTP layer's own counts only if it scores the whole vocabulary: others cut it down to rows that only they know.
bool is_whole_vocabulary(const ModelConfig& config, const Tensor* tensor) {
  return tensor != nullptr && !tensor->shape.empty() && tensor->shape[0] == config.vocab;
}

MtpTensors mtp_tensors(const ModelConfig& config, const Checkpoint& checkpoint, const Naming& naming) {
  const std::string nextn = block_prefix(config.layers.size()) + "nextn.";
  MtpTensors mtp{
      .combine = naming.combine(nextn + "eh_proj.weight"),
      .embedding_norm = naming.norm(nextn + "enorm.weight"),
      .hidden_norm = naming.norm(nextn + "hnorm.weight"),
      .final_norm = naming.norm(nextn + "shared_head_norm.weight"),
      .layers = {naming.block(config.layers.size(), {Mixer::kAttention, has_experts(config.family) ? Ffn::kMoe : Ffn::kMlp})},
      .embedding = {},
      .head = {},
  };
  const std::string embedding = nextn + "embed_tokens.weight";
  const std::string head = nextn + "shared_head_head.weight";
  if (naming.has(embedding)) mtp.embedding = naming.vocabulary(embedding);
  if (is_whole_vocabulary(config, checkpoint.find(head))) mtp.head = naming.vocabulary(head);
  return mtp;
}

}  // namespace

ModelTensors gguf_tensors(const ModelConfig& config, const Checkpoint& checkpoint) {
  const Naming naming(config, checkpoint);
  const bool tiled = (config.family == Family::kQwen35 || config.family == Family::kQwen35Moe) && config.key_heads != config.value_heads;
  ModelTensors tensors{
      .conventions = {.zero_centred_norms = false, .decay_is_log = false, .tiled_value_heads = tiled},
      .embedding = naming.vocabulary("token_embd.weight"),
      .head = {},
      .final_norm = naming.norm("output_norm.weight"),
      .layers = {},
      .mtp = {},
  };
  if (!config.tied) tensors.head = naming.vocabulary("output.weight");
  for (size_t i = 0; i < config.layers.size(); ++i) {
    tensors.layers.push_back(naming.block(i, config.layers[i]));
  }
  if (has_mtp(config, checkpoint)) tensors.mtp = mtp_tensors(config, checkpoint, naming);
  return tensors;
}

std::string gguf_skip_reason(const ModelConfig& config, const Checkpoint& checkpoint, const Tensor& tensor) {
  if (tensor.name.starts_with("v.") || tensor.name.starts_with("mm.")) return "vision";
  if (tensor.name.starts_with("mtp.")) return "MTP under names whose conventions are unknown (mtp.*)";
  const std::string mtp_block = block_prefix(config.layers.size());
  if (config.mtp_layers > 0 && tensor.name.starts_with(mtp_block)) {
    if (!has_mtp(config, checkpoint)) return "MTP block without nextn.eh_proj";
    if (tensor.name == mtp_block + "nextn.shared_head_head.weight") return "MTP head of a reduced vocabulary";
  }
  return {};
}

}  // namespace teapot::model
