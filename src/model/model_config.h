// What a model is, whichever file said so: every size that weights, states and plans follow from.
//
// Both readers (hf_config.h, gguf_config.h) validate before they return one: all sizes are positive and bounded, head counts divide,
// the rotary dimension is even, so that products of two or three fields fit 64 bits and a matrix's rows fit 32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace teapot::model {

enum class Family : uint8_t { kQwen3, kQwen3Moe, kQwen3Next, kQwen35, kQwen35Moe };
enum class Mixer : uint8_t { kAttention, kGdn };
enum class Ffn : uint8_t { kMlp, kMoe };

// Families with Gated DeltaNet layers. Their attention has an output gate and their norms are zero-centred in Hugging Face files.
constexpr bool is_hybrid(Family family) { return family >= Family::kQwen3Next; }
constexpr bool has_experts(Family family) { return family != Family::kQwen3 && family != Family::kQwen35; }
std::string_view family_name(Family family);  // as Hugging Face's model_type spells it

struct LayerKind {
  Mixer mixer;
  Ffn ffn;
};

struct ModelConfig {
  Family family;
  uint32_t hidden;
  uint32_t vocab;
  std::vector<LayerKind> layers;  // MTP layers not counted
  double rms_norm_eps;
  bool tied;  // the head is the embedding

  uint32_t heads, kv_heads, head_dim;
  bool attention_gate;
  double rope_theta;
  double partial_rotary_factor;
  uint32_t rotary_dim;                                   // the first rotary_dim of a head's elements are rotated
  std::optional<std::array<uint32_t, 3>> mrope_section;  // only said by qwen3_5; text needs none (spec 3.4)

  uint32_t key_heads = 0, value_heads = 0;  // of GDN; 0 in families without
  uint32_t dk = 0, dv = 0;
  uint32_t conv_kernel = 0;

  uint32_t intermediate = 0;  // width of a dense layer's FFN; 0 if every layer has experts
  uint32_t experts = 0, top_k = 0;
  uint32_t expert_width = 0;
  uint32_t shared_width = 0;  // of the shared expert; 0: there is none
  bool renormalise = true;    // the chosen experts' weights are made to sum to 1

  uint32_t mtp_layers = 0;  // what the file says; the tensors have the last word (spec 10.3)
  bool mtp_dedicated_embeddings = false;
  std::optional<uint32_t> max_position;  // what the file says
  std::vector<int32_t> eos_ids;          // of the config: not the whole stop set (spec 6.2)

  uint32_t layer_count(Mixer mixer) const;
  uint32_t layer_count(Ffn ffn) const;
  uint32_t conv_channels() const { return 2 * key_heads * dk + value_heads * dv; }
  uint32_t key_dim() const { return key_heads * dk; }
  uint32_t value_dim() const { return value_heads * dv; }
  // Positions that the model was made for: what the file says, else the default of the reference class.
  uint32_t context_length() const { return max_position.value_or(is_hybrid(family) ? 32768 : 40960); }
};

// How a file format calls the fields that depend on one another: errors name them so.
struct ConfigFieldNames {
  std::string hidden, heads, kv_heads, head_dim, rotary, experts, top_k, expert_width, key_heads, value_heads, dk, dv;
};

// The relations between fields: divisibility, an even rotary dimension, products within 32 bits. source names the file.
Status check_relations(const ModelConfig& config, const ConfigFieldNames& names, const std::string& source);

// Bounds of single fields, far above any model there is, far below what overflows.
constexpr uint64_t kMaxHidden = 1u << 17;
constexpr uint64_t kMaxVocab = 1u << 24;
constexpr uint64_t kMaxLayers = 1u << 12;
constexpr uint64_t kMaxHeads = 1u << 12;
constexpr uint64_t kMaxHeadDim = 1u << 12;
constexpr uint64_t kMaxWidth = 1u << 20;
constexpr uint64_t kMaxExperts = 1u << 12;
constexpr uint64_t kMaxConvKernel = 64;
constexpr uint64_t kMaxMtpLayers = 16;
constexpr uint64_t kMaxPosition = 1u << 30;

}  // namespace teapot::model
