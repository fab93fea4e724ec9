#include "model/sizes.h"

#include "plan/backend.h"

namespace teapot::model {
namespace {

uint64_t attention_parameters(const ModelConfig& c) {
  const uint64_t queries = uint64_t{c.heads} * c.head_dim;
  const uint64_t keys = uint64_t{c.kv_heads} * c.head_dim;
  return (c.attention_gate ? 2 : 1) * queries * c.hidden + 2 * keys * c.hidden + c.hidden * queries + 2 * c.head_dim;
}

uint64_t gdn_parameters(const ModelConfig& c) {
  const uint64_t channels = c.conv_channels();
  const uint64_t values = c.value_dim();
  const uint64_t inputs = channels + values + 2 * c.value_heads;  // qkv, z, b, a
  return inputs * c.hidden + channels * c.conv_kernel + 2 * c.value_heads + c.dv + c.hidden * values;
}

struct FfnParameters {
  uint64_t total, active;
};

FfnParameters ffn_parameters(const ModelConfig& c, Ffn kind) {
  if (kind == Ffn::kMlp) {
    const uint64_t dense = uint64_t{3} * c.intermediate * c.hidden;
    return {dense, dense};
  }
  const uint64_t expert = uint64_t{3} * c.expert_width * c.hidden;
  const uint64_t shared = c.shared_width > 0 ? uint64_t{3} * c.shared_width * c.hidden + c.hidden : 0;
  const uint64_t always = uint64_t{c.experts} * c.hidden + shared;
  return {always + c.experts * expert, always + c.top_k * expert};
}

// Of one layer and position.
uint64_t kv_bytes(const ModelConfig& c, uint64_t bytes_each) { return uint64_t{2} * c.kv_heads * c.head_dim * bytes_each; }

}  // namespace

ParameterCounts count_parameters(const ModelConfig& c) {
  const uint64_t vocabulary = uint64_t{c.vocab} * c.hidden;
  const uint64_t norms = (2 * c.layers.size() + 1) * c.hidden;
  uint64_t layers = norms;
  uint64_t active_layers = norms;
  for (const LayerKind& kind : c.layers) {
    const uint64_t mixer = kind.mixer == Mixer::kAttention ? attention_parameters(c) : gdn_parameters(c);
    const FfnParameters ffn = ffn_parameters(c, kind.ffn);
    layers += mixer + ffn.total;
    active_layers += mixer + ffn.active;
  }
  const uint64_t head = c.tied ? 0 : vocabulary;
  ParameterCounts counts{
      .total = vocabulary + head + layers,
      .active = vocabulary + head + active_layers,
      .read_per_token = vocabulary + (c.tied ? 0 : c.hidden) + active_layers,
  };
  if (c.mtp_layers > 0) {
    const uint64_t layer = 2 * c.hidden + attention_parameters(c) + ffn_parameters(c, has_experts(c.family) ? Ffn::kMoe : Ffn::kMlp).total;
    counts.mtp = uint64_t{2} * c.hidden * c.hidden + 3 * c.hidden + c.mtp_layers * layer;
  }
  return counts;
}

uint64_t kv_bytes_per_token(const ModelConfig& c, uint64_t bytes_each) {
  return c.layer_count(Mixer::kAttention) * kv_bytes(c, bytes_each);
}

uint64_t state_bytes_per_sequence(const ModelConfig& c) {
  if (c.value_heads == 0) return 0;
  const uint64_t recurrent = uint64_t{c.value_heads} * c.dk * c.dv;
  const uint64_t window = uint64_t{c.conv_channels()} * (c.conv_kernel - 1);
  return c.layer_count(Mixer::kGdn) * sizeof(float) * (recurrent + window);
}

uint64_t mtp_kv_bytes_per_token(const ModelConfig& c, uint64_t bytes_each) { return kv_bytes(c, bytes_each); }

// The last few, and that of a draft.
uint64_t hidden_bytes_per_sequence(const ModelConfig& c) { return uint64_t{plan::kHiddenRows + 1} * c.hidden * sizeof(float); }

uint64_t verify_log_bytes_per_row(const ModelConfig& c) {
  const uint64_t row = uint64_t{c.key_heads} * c.dk + uint64_t{c.value_heads} * c.dv + c.value_heads + c.conv_channels();
  return c.layer_count(Mixer::kGdn) * row * sizeof(float);
}

uint64_t verify_log_bytes_per_sequence(const ModelConfig& c, uint32_t depth) { return 2 * (depth + 1) * verify_log_bytes_per_row(c); }

}  // namespace teapot::model
