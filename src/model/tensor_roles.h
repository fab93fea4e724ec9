// What each tensor of a checkpoint is for: names and shapes by role, whichever file format spells them.
//
// hf_tensors.h and gguf_tensors.h fill these in; tensor_check.h compares them with the file; bind.h reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace teapot::model {

struct TensorSpec {
  std::string name;
  std::vector<uint64_t> shape;  // slowest first

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

struct AttentionTensors {
  TensorSpec q;     // [heads*head_dim, hidden], or [heads*2*head_dim, hidden] if gated: each head's query rows, then its gate rows
  TensorSpec k, v;  // [kv_heads*head_dim, hidden]
  TensorSpec o;     // [hidden, heads*head_dim]
  TensorSpec q_norm, k_norm;  // [head_dim]
};

// Packed forms are grouped by key head (spec 2, Qwen3-Next): rows of a group are q, k, v, z, and b, a.
struct GdnTensors {
  TensorSpec qkv;               // [2*key_dim + value_dim, hidden]; with z behind each group's v if there is no z
  std::optional<TensorSpec> z;  // [value_dim, hidden]
  TensorSpec b;                 // [value_heads, hidden]; with a behind each group's b if there is no a
  std::optional<TensorSpec> a;  // [value_heads, hidden]
  TensorSpec conv;              // [channels, (1,) kernel]
  TensorSpec decay;             // [value_heads]: A_log or -exp(A_log), see Conventions
  TensorSpec dt_bias;           // [value_heads]
  TensorSpec norm;              // [dv]
  TensorSpec out;               // [hidden, value_dim]
};

struct MlpTensors {
  TensorSpec gate, up;  // [width, hidden]
  TensorSpec down;      // [hidden, width]
};

// All experts of a layer, in one of three layouts.
struct StackedExperts {
  TensorSpec gate, up;  // [experts, width, hidden]
  TensorSpec down;      // [experts, hidden, width]
};
struct FusedExperts {
  TensorSpec gate_up;  // [experts, 2*width, hidden], gate first
  TensorSpec down;     // [experts, hidden, width]
};
using SeparateExperts = std::vector<MlpTensors>;

struct SharedExpertTensors {
  MlpTensors mlp;
  TensorSpec sigmoid;  // [1, hidden] or [hidden]
};

struct MoeTensors {
  TensorSpec router;  // [experts, hidden]
  std::variant<StackedExperts, FusedExperts, SeparateExperts> experts;
  std::optional<SharedExpertTensors> shared;
};

struct LayerTensors {
  TensorSpec mixer_norm, ffn_norm;  // [hidden]
  std::variant<AttentionTensors, GdnTensors> mixer;
  std::variant<MlpTensors, MoeTensors> ffn;
};

struct MtpTensors {
  TensorSpec combine;                                  // [hidden, 2*hidden]: columns of the embedding first (spec 4.1)
  TensorSpec embedding_norm, hidden_norm, final_norm;  // [hidden]
  std::vector<LayerTensors> layers;
  std::optional<TensorSpec> embedding, head;  // of its own, [vocab, hidden]; else the model's
};

// How the values of small tensors are to be understood.
struct Conventions {
  bool zero_centred_norms;  // 1 must be added; never to the gated norm of GDN (spec 3.2)
  bool decay_is_log;        // A_log, else -exp(A_log)
  bool tiled_value_heads;   // spec 5.4
};

struct ModelTensors {
  Conventions conventions;
  TensorSpec embedding;            // [vocab, hidden]
  std::optional<TensorSpec> head;  // [vocab, hidden]; none if tied
  TensorSpec final_norm;           // [hidden]
  std::vector<LayerTensors> layers;
  std::optional<MtpTensors> mtp;
};

// Every tensor, in the order of the roles.
std::vector<TensorSpec> all_tensors(const ModelTensors& model);

}  // namespace teapot::model
