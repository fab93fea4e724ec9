// A model's weights by role: ids into the weight table that a backend loads.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "plan/weight.h"

namespace teapot::model {

struct AttentionWeights {
  plan::MatrixId q;               // [heads*head_dim, hidden]
  plan::MatrixId gate;            // [heads*head_dim, hidden], or kNoMatrix (plain Qwen3)
  plan::MatrixId k, v;            // [kv_heads*head_dim, hidden]
  plan::MatrixId o;               // [hidden, heads*head_dim]
  plan::VectorId q_norm, k_norm;  // [head_dim], 1+w folded
};

struct GdnWeights {
  plan::MatrixId qkv;            // [channels, hidden], all q heads, all k heads, all v heads
  plan::MatrixId z;              // [value_heads*dv, hidden]
  plan::MatrixId b, a;           // [value_heads, hidden]
  plan::MatrixId out;            // [hidden, value_heads*dv]
  plan::VectorId conv;           // [kernel, channels]
  plan::VectorId neg_exp_a_log;  // [value_heads]
  plan::VectorId dt_bias;        // [value_heads]
  plan::VectorId norm;           // [dv]
};

struct MlpWeights {
  plan::MatrixId gate, up;  // [width, hidden]
  plan::MatrixId down;      // [hidden, width]
};

struct MoeWeights {
  plan::MatrixId router;          // [experts, hidden]
  plan::MatrixId gate, up;        // [experts*width, hidden]
  plan::MatrixId down;            // [experts*hidden, width]
  MlpWeights shared;              // of the shared expert, or three kNoMatrix
  plan::MatrixId shared_sigmoid;  // [1, hidden], or kNoMatrix
};

struct LayerWeights {
  plan::VectorId mixer_norm, ffn_norm;  // [hidden], 1+w folded
  std::variant<AttentionWeights, GdnWeights> mixer;
  std::variant<MlpWeights, MoeWeights> ffn;
};

struct MtpWeights {
  plan::MatrixId combine;                                  // [hidden, 2*hidden], columns of the embedding first
  plan::VectorId embedding_norm, hidden_norm, final_norm;  // [hidden], 1+w folded
  std::vector<LayerWeights> layers;
  plan::MatrixId embedding, head;  // [vocab, hidden]: the model's, unless the file has others
};

struct ModelWeights {
  plan::MatrixId embedding;   // [vocab, hidden]
  plan::MatrixId head;        // the embedding, if tied
  plan::VectorId final_norm;  // [hidden], 1+w folded
  std::vector<LayerWeights> layers;
  std::optional<MtpWeights> mtp;
};

}  // namespace teapot::model
