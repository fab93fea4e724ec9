#include "model/hf_config.h"

#include <algorithm>
#include <map>

#include "model/config_fields.h"
#include "model/hf_rope.h"

namespace teapot::model {
namespace {

// The *_text types stand at the root of text-only exports.
const std::map<std::string, Family, std::less<>>& families() {
  static const std::map<std::string, Family, std::less<>> kFamilies = {
      {"qwen3", Family::kQwen3},
      {"qwen3_moe", Family::kQwen3Moe},
      {"qwen3_next", Family::kQwen3Next},
      {"qwen3_5", Family::kQwen35},
      {"qwen3_5_text", Family::kQwen35},
      {"qwen3_5_moe", Family::kQwen35Moe},
      {"qwen3_5_moe_text", Family::kQwen35Moe},
  };
  return kFamilies;
}

Result<Family> read_family(const ConfigFields& root, const ConfigFields& text) {
  const ConfigFields& place = text.find("model_type") != nullptr ? text : root;
  TEAPOT_TRY(const auto type, place.string("model_type"));
  if (!type) return fail(ErrorKind::kInvalid, "{}: model_type is missing", root.source());
  const auto it = families().find(*type);
  if (it != families().end()) return it->second;
  std::string known;
  for (const auto& [name, family] : families()) known += (known.empty() ? "" : ", ") + name;
  return fail(ErrorKind::kUnsupported, "{}: {} is \"{}\", which is none of {}", root.source(), place.name("model_type"), *type, known);
}

// Fields that may only say what the reference class does anyway.
Status check_fixed(const ConfigFields& text, Family family) {
  TEAPOT_TRY(const auto activation, text.string("hidden_act"));
  if (activation && *activation != "silu") {
    return fail(ErrorKind::kUnsupported, "{}: {} is \"{}\", only silu is supported", text.source(), text.name("hidden_act"), *activation);
  }
  TEAPOT_TRY(const auto bias, text.boolean("attention_bias"));
  if (bias.value_or(false)) {
    return fail(ErrorKind::kUnsupported, "{}: {} is true, attention with biases is not supported", text.source(),
                text.name("attention_bias"));
  }
  TEAPOT_TRY(const auto window, text.boolean("use_sliding_window"));
  if (window.value_or(false)) {
    return fail(ErrorKind::kUnsupported, "{}: {} is true, sliding windows are not supported", text.source(),
                text.name("use_sliding_window"));
  }
  if (!is_hybrid(family)) return {};
  TEAPOT_TRY(const auto gate, text.boolean("attn_output_gate"));
  if (!gate.value_or(true)) {
    return fail(ErrorKind::kUnsupported, "{}: {} is false, these models always gate the attention's output", text.source(),
                text.name("attn_output_gate"));
  }
  TEAPOT_TRY(const auto gate_type, text.string("output_gate_type"));
  if (gate_type && *gate_type != "swish") {
    return fail(ErrorKind::kUnsupported, "{}: {} is \"{}\", only swish is supported", text.source(), text.name("output_gate_type"),
                *gate_type);
  }
  return {};
}

// Which layers attend: layer_types, or every full_attention_interval-th one.
Result<std::vector<LayerKind>> read_mixers(const ConfigFields& text, Family family, uint32_t count) {
  std::vector<LayerKind> layers(count, {Mixer::kAttention, Ffn::kMlp});
  if (const Json* types = text.find("layer_types"); types != nullptr && !(types->is_array() && types->empty())) {
    if (!types->is_array()) return text.wrong("layer_types", *types, "a list");
    if (types->size() != count) {
      return fail(ErrorKind::kInvalid, "{}: {} has {} entries, num_hidden_layers is {}", text.source(), text.name("layer_types"),
                  types->size(), count);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const Json& type = (*types)[i];
      if (type == "linear_attention" && is_hybrid(family)) {
        layers[i].mixer = Mixer::kGdn;
      } else if (type != "full_attention") {
        return text.wrong("layer_types", type, is_hybrid(family) ? "full_attention or linear_attention" : "full_attention");
      }
    }
    return layers;
  }
  if (!is_hybrid(family)) return layers;
  TEAPOT_TRY(const auto interval, text.integer("full_attention_interval", 1, kMaxLayers));
  for (uint32_t i = 0; i < count; ++i) {
    if ((i + 1) % interval.value_or(4) != 0) layers[i].mixer = Mixer::kGdn;
  }
  return layers;
}

Status read_attention(const ConfigFields& text, ModelConfig& config) {
  TEAPOT_TRY(config.heads, text.required("num_attention_heads", 1, kMaxHeads));
  TEAPOT_TRY(config.kv_heads, text.required("num_key_value_heads", 1, kMaxHeads));
  TEAPOT_TRY(const auto head_dim, text.integer("head_dim", 1, kMaxHeadDim));
  config.head_dim = head_dim.value_or(is_hybrid(config.family) ? 256 : 128);
  config.attention_gate = is_hybrid(config.family);
  return read_hf_rope(text, config);
}

Status read_gdn(const ConfigFields& text, ModelConfig& config) {
  if (!is_hybrid(config.family)) return {};
  const auto read = [&](std::string_view key, uint32_t fallback, uint64_t high) -> Result<uint32_t> {
    TEAPOT_TRY(const auto value, text.integer(key, 1, high));
    return value.value_or(fallback);
  };
  TEAPOT_TRY(config.key_heads, read("linear_num_key_heads", 16, kMaxHeads));
  TEAPOT_TRY(config.value_heads, read("linear_num_value_heads", 32, kMaxHeads));
  TEAPOT_TRY(config.dk, read("linear_key_head_dim", 128, kMaxHeadDim));
  TEAPOT_TRY(config.dv, read("linear_value_head_dim", 128, kMaxHeadDim));
  TEAPOT_TRY(const auto kernel, text.integer("linear_conv_kernel_dim", 2, kMaxConvKernel));
  config.conv_kernel = kernel.value_or(4);
  return {};
}

// Which layers have experts. Qwen3.5's class has neither field and experts everywhere (spec 1.2).
Status read_expert_layers(const ConfigFields& text, ModelConfig& config) {
  for (LayerKind& layer : config.layers) layer.ffn = Ffn::kMoe;
  if (config.family == Family::kQwen35Moe) return {};
  TEAPOT_TRY(const auto step, text.integer("decoder_sparse_step", 1, kMaxLayers));
  for (uint32_t i = 0; i < config.layers.size(); ++i) {
    if ((i + 1) % step.value_or(1) != 0) config.layers[i].ffn = Ffn::kMlp;
  }
  TEAPOT_TRY(const auto dense, text.integers("mlp_only_layers", 0, config.layers.size() - 1));
  for (const int32_t i : dense) config.layers[static_cast<size_t>(i)].ffn = Ffn::kMlp;
  return {};
}

Status read_ffn(const ConfigFields& text, ModelConfig& config) {
  if (has_experts(config.family)) {
    TEAPOT_CHECK(read_expert_layers(text, config));
    TEAPOT_TRY(config.experts, text.required("num_experts", 1, kMaxExperts));
    TEAPOT_TRY(config.top_k, text.required("num_experts_per_tok", 1, kMaxExperts));
    TEAPOT_TRY(config.expert_width, text.required("moe_intermediate_size", 1, kMaxWidth));
    if (config.family != Family::kQwen3Moe) {  // that class has no shared expert, whatever the file says
      TEAPOT_TRY(const auto shared, text.integer("shared_expert_intermediate_size", 0, kMaxWidth));
      config.shared_width = shared.value_or(0);
    }
    // Qwen3.5's class has no such field and always renormalises; Qwen3-MoE's default is false.
    if (config.family != Family::kQwen35Moe) {
      TEAPOT_TRY(const auto renormalise, text.boolean("norm_topk_prob"));
      config.renormalise = renormalise.value_or(config.family == Family::kQwen3Next);
    }
  }
  if (config.layer_count(Ffn::kMlp) > 0) {
    TEAPOT_TRY(config.intermediate, text.required("intermediate_size", 1, kMaxWidth));
  }
  return {};
}

// Both places may say it; the known files agree.
Result<bool> read_tied(const ConfigFields& root, const ConfigFields& text) {
  TEAPOT_TRY(const auto at_root, root.boolean("tie_word_embeddings"));
  TEAPOT_TRY(const auto at_text, text.boolean("tie_word_embeddings"));
  if (at_root && at_text && *at_root != *at_text) {
    return fail(ErrorKind::kInvalid, "{}: {} is {}, but {} is {}", root.source(), root.name("tie_word_embeddings"), *at_root,
                text.name("tie_word_embeddings"), *at_text);
  }
  return at_root.value_or(at_text.value_or(false));
}

}  // namespace

Result<ModelConfig> read_hf_config(const Json& json, const std::string& source) {
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: expected a JSON object", source);
  const ConfigFields root(json, source);
  TEAPOT_TRY(const auto nested, root.object("text_config"));
  const ConfigFields& text = nested ? *nested : root;

  ModelConfig config{};
  TEAPOT_TRY(config.family, read_family(root, text));
  TEAPOT_CHECK(check_fixed(text, config.family));
  TEAPOT_TRY(config.hidden, text.required("hidden_size", 1, kMaxHidden));
  TEAPOT_TRY(config.vocab, text.required("vocab_size", 1, kMaxVocab));
  TEAPOT_TRY(const uint32_t layers, text.required("num_hidden_layers", 1, kMaxLayers));
  TEAPOT_TRY(config.layers, read_mixers(text, config.family, layers));
  TEAPOT_TRY(const auto eps, text.number("rms_norm_eps"));
  config.rms_norm_eps = eps.value_or(1e-6);
  if (config.rms_norm_eps <= 0 || config.rms_norm_eps >= 1) {
    return text.wrong("rms_norm_eps", *text.find("rms_norm_eps"), "a number between 0 and 1");
  }
  TEAPOT_CHECK(read_attention(text, config));
  TEAPOT_CHECK(read_gdn(text, config));
  TEAPOT_CHECK(read_ffn(text, config));
  TEAPOT_TRY(config.tied, read_tied(root, text));

  TEAPOT_TRY(const auto mtp, text.integer("mtp_num_hidden_layers", 0, kMaxMtpLayers));
  config.mtp_layers = mtp.value_or(0);
  TEAPOT_TRY(const auto dedicated, text.boolean("mtp_use_dedicated_embeddings"));
  config.mtp_dedicated_embeddings = dedicated.value_or(false);
  TEAPOT_TRY(config.max_position, text.integer("max_position_embeddings", 1, kMaxPosition));
  const ConfigFields& eos = text.find("eos_token_id") != nullptr ? text : root;
  TEAPOT_TRY(config.eos_ids, eos.integers("eos_token_id", 0, kMaxVocab));

  TEAPOT_CHECK(check_relations(config,
                               {
                                   .hidden = text.name("hidden_size"),
                                   .heads = text.name("num_attention_heads"),
                                   .kv_heads = text.name("num_key_value_heads"),
                                   .head_dim = text.name("head_dim"),
                                   .rotary = "partial_rotary_factor",
                                   .experts = text.name("num_experts"),
                                   .top_k = text.name("num_experts_per_tok"),
                                   .expert_width = text.name("moe_intermediate_size"),
                                   .key_heads = text.name("linear_num_key_heads"),
                                   .value_heads = text.name("linear_num_value_heads"),
                                   .dk = text.name("linear_key_head_dim"),
                                   .dv = text.name("linear_value_head_dim"),
                               },
                               source));
  return config;
}

}  // namespace teapot::model
