#include "model/hf_tensors.h"

#include <algorithm>
#include <charconv>

namespace teapot::model {
namespace {

class Naming {
 public:
  Naming(const ModelConfig& config, const Checkpoint& checkpoint) : config_(config), checkpoint_(checkpoint) {}

  // layer: "model.layers.3.".
  LayerTensors layer(const std::string& layer, LayerKind kind) const {
    LayerTensors tensors{
        .mixer_norm = {layer + "input_layernorm.weight", {hidden()}},
        .ffn_norm = {layer + "post_attention_layernorm.weight", {hidden()}},
        .mixer = {},
        .ffn = {},
    };
    if (kind.mixer == Mixer::kAttention) {
      tensors.mixer = attention(layer + "self_attn.");
    } else {
      tensors.mixer = gdn(layer + "linear_attn.");
    }
    if (kind.ffn == Ffn::kMlp) {
      tensors.ffn = mlp(layer + "mlp.", config_.intermediate);
    } else {
      tensors.ffn = moe(layer + "mlp.");
    }
    return tensors;
  }

  TensorSpec norm(std::string name) const { return {std::move(name), {hidden()}}; }
  TensorSpec vocabulary(std::string name) const { return {std::move(name), {config_.vocab, hidden()}}; }
  TensorSpec combine(std::string name) const { return {std::move(name), {hidden(), 2 * hidden()}}; }

 private:
  uint64_t hidden() const { return config_.hidden; }
  bool has(const std::string& name) const { return checkpoint_.find(name) != nullptr; }

  AttentionTensors attention(const std::string& prefix) const {
    const uint64_t q = config_.heads * config_.head_dim;
    const uint64_t kv = config_.kv_heads * config_.head_dim;
    return {
        .q = {prefix + "q_proj.weight", {config_.attention_gate ? 2 * q : q, hidden()}},
        .k = {prefix + "k_proj.weight", {kv, hidden()}},
        .v = {prefix + "v_proj.weight", {kv, hidden()}},
        .o = {prefix + "o_proj.weight", {hidden(), q}},
        .q_norm = {prefix + "q_norm.weight", {config_.head_dim}},
        .k_norm = {prefix + "k_norm.weight", {config_.head_dim}},
    };
  }

  GdnTensors gdn(const std::string& prefix) const {
    const uint64_t values = config_.value_dim();
    const uint64_t heads = config_.value_heads;
    GdnTensors tensors{
        .qkv = {prefix + "in_proj_qkv.weight", {config_.conv_channels(), hidden()}},
        .z = TensorSpec{prefix + "in_proj_z.weight", {values, hidden()}},
        .b = {prefix + "in_proj_b.weight", {heads, hidden()}},
        .a = TensorSpec{prefix + "in_proj_a.weight", {heads, hidden()}},
        .conv = {prefix + "conv1d.weight", {config_.conv_channels(), 1, config_.conv_kernel}},
        .decay = {prefix + "A_log", {heads}},
        .dt_bias = {prefix + "dt_bias", {heads}},
        .norm = {prefix + "norm.weight", {config_.dv}},
        .out = {prefix + "out_proj.weight", {hidden(), values}},
    };
    if (has(prefix + "in_proj_qkvz.weight")) {
      tensors.qkv = {prefix + "in_proj_qkvz.weight", {config_.conv_channels() + values, hidden()}};
      tensors.z.reset();
    }
    if (has(prefix + "in_proj_ba.weight")) {
      tensors.b = {prefix + "in_proj_ba.weight", {2 * heads, hidden()}};
      tensors.a.reset();
    }
    return tensors;
  }

  MlpTensors mlp(const std::string& prefix, uint64_t width) const {
    return {
        .gate = {prefix + "gate_proj.weight", {width, hidden()}},
        .up = {prefix + "up_proj.weight", {width, hidden()}},
        .down = {prefix + "down_proj.weight", {hidden(), width}},
    };
  }

  MoeTensors moe(const std::string& prefix) const {
    const uint64_t width = config_.expert_width;
    MoeTensors tensors{.router = {prefix + "gate.weight", {config_.experts, hidden()}}, .experts = {}, .shared = {}};
    if (has(prefix + "experts.0.gate_proj.weight")) {
      SeparateExperts experts;
      for (uint32_t e = 0; e < config_.experts; ++e) {
        // A file whose first expert is there may still lack the others: the list ends with the first missing one, which is an error anyway.
        experts.push_back(mlp(fmt::format("{}experts.{}.", prefix, e), width));
        if (!has(experts.back().down.name)) break;
      }
      tensors.experts = std::move(experts);
    } else {
      tensors.experts = FusedExperts{
          .gate_up = {prefix + "experts.gate_up_proj", {config_.experts, 2 * width, hidden()}},
          .down = {prefix + "experts.down_proj", {config_.experts, hidden(), width}},
      };
    }
    if (config_.shared_width > 0) {
      tensors.shared = SharedExpertTensors{
          .mlp = mlp(prefix + "shared_expert.", config_.shared_width),
          .sigmoid = {prefix + "shared_expert_gate.weight", {1, hidden()}},
      };
    }
    return tensors;
  }

  const ModelConfig& config_;
  const Checkpoint& checkpoint_;
};

constexpr std::string_view kMtpPrefixes[] = {"mtp.", "model.mtp."};

bool is_mtp(std::string_view name) {
  return std::ranges::any_of(kMtpPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// What stands in front of "embed_tokens.weight".
Result<std::string> find_prefix(const Checkpoint& checkpoint) {
  constexpr std::string_view kEmbedding = "embed_tokens.weight";
  std::string prefix;
  bool found = false;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!tensor.name.ends_with(kEmbedding) || is_mtp(tensor.name)) continue;
    std::string candidate = tensor.name.substr(0, tensor.name.size() - kEmbedding.size());
    if (found) {
      return fail(ErrorKind::kInvalid, "{}: two embeddings, {}{} and {}", checkpoint.path_of(tensor), prefix, kEmbedding, tensor.name);
    }
    prefix = std::move(candidate);
    found = true;
  }
  if (!found) {
    return fail(ErrorKind::kInvalid, "{}: tensor model.embed_tokens.weight is missing, under any prefix",
                checkpoint.files.empty() ? "checkpoint" : checkpoint.files.front().path());
  }
  if (prefix.starts_with("language_model.")) {
    return fail(
        ErrorKind::kUnsupported,
        "{}: tensor {}{} shows an MLX export (prefix language_model.): its norms and convolutions are stored in other ways; use the "
        "original checkpoint",
        checkpoint.files.empty() ? "checkpoint" : checkpoint.files.front().path(), prefix, kEmbedding);
  }
  return prefix;
}

// MTP layers in the file: one more than the highest index in "mtp.layers.3.". At most kMaxMtpLayers: a higher one is left to be
// reported as unexpected.
uint32_t count_mtp_layers(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::string layers = prefix + "layers.";
  uint32_t count = 1;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!tensor.name.starts_with(layers)) continue;
    uint32_t index = 0;
    const char* begin = tensor.name.data() + layers.size();
    const auto [end, error] = std::from_chars(begin, tensor.name.data() + tensor.name.size(), index);
    if (error == std::errc{} && *end == '.' && index < kMaxMtpLayers) count = std::max(count, index + 1);
  }
  return count;
}

Result<std::optional<MtpTensors>> mtp_tensors(const ModelConfig& config, const Checkpoint& checkpoint, const Naming& naming) {
  const auto first = std::ranges::find_if(checkpoint.tensors, is_mtp, &Tensor::name);
  if (first == checkpoint.tensors.end()) return std::nullopt;
  if (config.mtp_dedicated_embeddings) {
    return fail(ErrorKind::kUnsupported, "{}: tensor {} is there and mtp_use_dedicated_embeddings is true, which is not supported",
                checkpoint.path_of(*first), first->name);
  }
  const std::string prefix(first->name.starts_with(kMtpPrefixes[0]) ? kMtpPrefixes[0] : kMtpPrefixes[1]);
  MtpTensors mtp{
      .combine = naming.combine(prefix + "fc.weight"),
      .embedding_norm = naming.norm(prefix + "pre_fc_norm_embedding.weight"),
      .hidden_norm = naming.norm(prefix + "pre_fc_norm_hidden.weight"),
      .final_norm = naming.norm(prefix + "norm.weight"),
      .layers = {},
      .embedding = {},
      .head = {},
  };
  const LayerKind kind{Mixer::kAttention, has_experts(config.family) ? Ffn::kMoe : Ffn::kMlp};
  // Qwen3-Next's configuration has no field for it.
  const uint32_t layers = config.mtp_layers > 0 ? config.mtp_layers : count_mtp_layers(checkpoint, prefix);
  for (uint32_t i = 0; i < layers; ++i) mtp.layers.push_back(naming.layer(fmt::format("{}layers.{}.", prefix, i), kind));
  return mtp;
}

}  // namespace

Result<ModelTensors> hf_tensors(const ModelConfig& config, const Checkpoint& checkpoint) {
  TEAPOT_TRY(const std::string prefix, find_prefix(checkpoint));
  const Naming naming(config, checkpoint);
  ModelTensors tensors{
      .conventions = {.zero_centred_norms = is_hybrid(config.family), .decay_is_log = true, .tiled_value_heads = false},
      .embedding = naming.vocabulary(prefix + "embed_tokens.weight"),
      .head = {},
      .final_norm = naming.norm(prefix + "norm.weight"),
      .layers = {},
      .mtp = {},
  };
  if (!config.tied) tensors.head = naming.vocabulary("lm_head.weight");
  for (size_t i = 0; i < config.layers.size(); ++i) {
    tensors.layers.push_back(naming.layer(fmt::format("{}layers.{}.", prefix, i), config.layers[i]));
  }
  TEAPOT_TRY(tensors.mtp, mtp_tensors(config, checkpoint, naming));
  return tensors;
}

std::string hf_skip_reason(const ModelConfig& config, const Tensor& tensor) {
  if (tensor.name.starts_with("model.visual.") || tensor.name.starts_with("visual.")) return "vision";
  if (tensor.name.ends_with(".rotary_emb.inv_freq")) return "rotary frequencies (computed)";
  if (config.tied && tensor.name == "lm_head.weight") return "lm_head.weight (tied to the embedding)";
  return {};
}

}  // namespace teapot::model
