#include "model/config_facts.h"

#include "model/sizes.h"

namespace teapot::model {
namespace {

void add_layer_kinds(const ModelConfig& config, Json& facts) {
  facts["full_attention_layers"] = config.layer_count(Mixer::kAttention);
  if (!is_hybrid(config.family)) return;
  std::vector<size_t> attending;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    if (config.layers[i].mixer == Mixer::kAttention) attending.push_back(i);
  }
  facts["layer_types_length"] = config.layers.size();
  facts["full_attention_first_last"] = attending.empty() ? Json::array() : Json{attending.front(), attending.back()};
  facts["linear_attention_layers"] = config.layer_count(Mixer::kGdn);
}

void add_gdn(const ModelConfig& config, Json& facts) {
  if (!is_hybrid(config.family)) return;
  facts["attn_output_gate"] = config.attention_gate;
  facts["linear_key_heads"] = config.key_heads;
  facts["linear_value_heads"] = config.value_heads;
  facts["linear_key_head_dim"] = config.dk;
  facts["linear_value_head_dim"] = config.dv;
  facts["conv_kernel"] = config.conv_kernel;
  facts["value_heads_per_key_head"] = config.value_heads / config.key_heads;
}

void add_ffn(const ModelConfig& config, Json& facts) {
  if (has_experts(config.family)) {
    facts["experts"] = config.experts;
    facts["top_k"] = config.top_k;
    facts["moe_intermediate"] = config.expert_width;
    facts["shared_intermediate"] = config.shared_width;
    facts["norm_topk_prob"] = config.renormalise;
    facts["moe_layers"] = config.layer_count(Ffn::kMoe);
  }
  if (config.intermediate > 0) facts["intermediate"] = config.intermediate;
}

void add_rope(const ModelConfig& config, Json& facts) {
  facts["rope_theta"] = config.rope_theta;
  facts["partial_rotary_factor"] = config.partial_rotary_factor;
  facts["rope_type"] = "default";
  if (config.mrope_section) facts["mrope_section"] = *config.mrope_section;
  facts["rotary_dim"] = config.rotary_dim;
}

void add_sizes(const ModelConfig& config, Json& facts) {
  const ParameterCounts counts = count_parameters(config);
  facts["params_total"] = counts.total;
  facts["params_active"] = counts.active;
  facts["params_read_per_token"] = counts.read_per_token;
  facts["bytes_read_per_token_bf16"] = 2 * counts.read_per_token;
  if (counts.mtp > 0) facts["params_mtp"] = counts.mtp;
  facts["kv_bytes_per_token_bf16"] = kv_bytes_per_token(config, 2);
  if (is_hybrid(config.family)) facts["state_bytes_per_sequence_f32"] = state_bytes_per_sequence(config);
}

}  // namespace

Json config_facts(const ModelConfig& config) {
  Json facts;
  facts["family"] = family_name(config.family);
  facts["hidden"] = config.hidden;
  facts["layers"] = config.layers.size();
  facts["heads"] = config.heads;
  facts["kv_heads"] = config.kv_heads;
  facts["vocab"] = config.vocab;
  facts["head_dim"] = config.head_dim;
  facts["rms_norm_eps"] = config.rms_norm_eps;
  facts["attention_bias"] = false;  // a configuration with it is refused
  add_gdn(config, facts);
  add_ffn(config, facts);
  facts["tie"] = config.tied;
  facts["mtp_layers"] = config.mtp_layers;
  facts["max_position"] = config.max_position ? Json(*config.max_position) : Json();
  facts["eos_ids_config"] = config.eos_ids;
  add_layer_kinds(config, facts);
  add_rope(config, facts);
  add_sizes(config, facts);
  return facts;
}

}  // namespace teapot::model
