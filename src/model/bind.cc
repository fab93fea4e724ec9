#include "model/bind.h"

#include <cmath>

#include "model/weight_builder.h"

namespace teapot::model {
namespace {

using plan::kNoMatrix;
using plan::MatrixId;
using plan::RowRun;
using plan::VectorId;

class Binder {
 public:
  Binder(const ModelConfig& config, const Conventions& conventions, const Checkpoint& checkpoint)
      : config_(config), conventions_(conventions), builder_(checkpoint) {}

  Result<ModelWeights> model(const ModelTensors& t) {
    ModelWeights w{};
    TEAPOT_TRY(w.embedding, builder_.matrix(t.embedding));
    w.head = w.embedding;
    if (t.head) {
      TEAPOT_TRY(w.head, builder_.matrix(*t.head));
    }
    TEAPOT_TRY(w.final_norm, norm(t.final_norm));
    for (const LayerTensors& layer : t.layers) {
      TEAPOT_TRY(LayerWeights bound, this->layer(layer));
      w.layers.push_back(bound);
    }
    if (t.mtp) {
      TEAPOT_TRY(w.mtp, mtp(*t.mtp, w));
    }
    return w;
  }

  plan::WeightTable take() {
    plan::WeightTable table = builder_.take();
    table.mapped = true;
    return table;
  }

 private:
  Result<VectorId> norm(const TensorSpec& t) {
    const float shift = conventions_.zero_centred_norms ? 1.0f : 0.0f;
    return builder_.vector(t, [shift](float x) { return x + shift; });
  }

  Result<VectorId> plain(const TensorSpec& t) {
    return builder_.vector(t, [](float x) { return x; });
  }

  Result<MtpWeights> mtp(const MtpTensors& t, const ModelWeights& model) {
    MtpWeights w{};
    TEAPOT_TRY(w.combine, builder_.matrix(t.combine));
    TEAPOT_TRY(w.embedding_norm, norm(t.embedding_norm));
    TEAPOT_TRY(w.hidden_norm, norm(t.hidden_norm));
    TEAPOT_TRY(w.final_norm, norm(t.final_norm));
    for (const LayerTensors& layer : t.layers) {
      TEAPOT_TRY(LayerWeights bound, this->layer(layer));
      w.layers.push_back(bound);
    }
    w.embedding = model.embedding;
    w.head = model.head;
    if (t.embedding) {
      TEAPOT_TRY(w.embedding, builder_.matrix(*t.embedding));
    }
    if (t.head) {
      TEAPOT_TRY(w.head, builder_.matrix(*t.head));
    }
    return w;
  }

  Result<LayerWeights> layer(const LayerTensors& t) {
    LayerWeights w{};
    TEAPOT_TRY(w.mixer_norm, norm(t.mixer_norm));
    TEAPOT_TRY(w.ffn_norm, norm(t.ffn_norm));
    if (const auto* attention_tensors = std::get_if<AttentionTensors>(&t.mixer)) {
      TEAPOT_TRY(w.mixer, attention(*attention_tensors));
    } else {
      TEAPOT_TRY(w.mixer, gdn(std::get<GdnTensors>(t.mixer)));
    }
    if (const auto* mlp_tensors = std::get_if<MlpTensors>(&t.ffn)) {
      TEAPOT_TRY(w.ffn, mlp(*mlp_tensors));
    } else {
      TEAPOT_TRY(w.ffn, moe(std::get<MoeTensors>(t.ffn)));
    }
    return w;
  }

  Result<AttentionWeights> attention(const AttentionTensors& t) {
    AttentionWeights w{};
    w.gate = kNoMatrix;
    if (config_.attention_gate) {
      // Query and gate rows alternate head by head (spec 2).
      TEAPOT_TRY(w.q, every_other(t.q, 0));
      TEAPOT_TRY(w.gate, every_other(t.q, config_.head_dim));
    } else {
      TEAPOT_TRY(w.q, builder_.matrix(t.q));
    }
    TEAPOT_TRY(w.k, builder_.matrix(t.k));
    TEAPOT_TRY(w.v, builder_.matrix(t.v));
    TEAPOT_TRY(w.o, builder_.matrix(t.o));
    TEAPOT_TRY(w.q_norm, norm(t.q_norm));
    TEAPOT_TRY(w.k_norm, norm(t.k_norm));
    return w;
  }

  Result<MatrixId> every_other(const TensorSpec& t, uint32_t offset) {
    return grouped(t, config_.heads, 2 * config_.head_dim, {{offset, config_.head_dim}});
  }

  struct Slice {
    uint64_t offset, rows;
  };

  // The same slice of each group of rows, groups in order; slice after slice.
  Result<MatrixId> grouped(const TensorSpec& t, uint32_t groups, uint64_t group_rows, std::initializer_list<Slice> slices) {
    TEAPOT_TRY(const Rows rows, builder_.rows(t));
    std::vector<RowRun> runs;
    for (const Slice& slice : slices) {
      for (uint32_t group = 0; group < groups; ++group) runs.push_back(rows.run(group * group_rows + slice.offset, slice.rows));
    }
    return builder_.matrix({&rows, 1}, runs);
  }

  Result<GdnWeights> gdn(const GdnTensors& t) {
    GdnWeights w{};
    const uint64_t dk = config_.dk;
    const uint64_t ratio = config_.value_heads / config_.key_heads;
    const uint64_t values = ratio * config_.dv;  // rows of a key head's value heads
    if (t.z) {
      TEAPOT_TRY(w.qkv, builder_.matrix(t.qkv));
      TEAPOT_TRY(w.z, builder_.matrix(*t.z));
    } else {
      const uint64_t group = 2 * dk + 2 * values;
      TEAPOT_TRY(w.qkv, grouped(t.qkv, config_.key_heads, group, {{0, dk}, {dk, dk}, {2 * dk, values}}));
      TEAPOT_TRY(w.z, grouped(t.qkv, config_.key_heads, group, {{2 * dk + values, values}}));
    }
    if (t.a) {
      TEAPOT_TRY(w.b, builder_.matrix(t.b));
      TEAPOT_TRY(w.a, builder_.matrix(*t.a));
    } else {
      TEAPOT_TRY(w.b, grouped(t.b, config_.key_heads, 2 * ratio, {{0, ratio}}));
      TEAPOT_TRY(w.a, grouped(t.b, config_.key_heads, 2 * ratio, {{ratio, ratio}}));
    }
    TEAPOT_TRY(w.out, builder_.matrix(t.out));
    TEAPOT_TRY(w.conv, convolution(t.conv));
    const bool is_log = conventions_.decay_is_log;
    TEAPOT_TRY(w.neg_exp_a_log, builder_.vector(t.decay, [is_log](float x) { return is_log ? -std::exp(x) : x; }));
    TEAPOT_TRY(w.dt_bias, plain(t.dt_bias));
    TEAPOT_TRY(w.norm, plain(t.norm));
    return w;
  }

  // [channels, (1,) kernel] to [kernel, channels].
  Result<VectorId> convolution(const TensorSpec& t) {
    TEAPOT_TRY(const std::vector<float> read, builder_.values(t));
    const size_t kernel = config_.conv_kernel;
    const size_t channels = config_.conv_channels();
    std::vector<float> transposed(read.size());
    for (size_t channel = 0; channel < channels; ++channel) {
      for (size_t tap = 0; tap < kernel; ++tap) transposed[tap * channels + channel] = read[channel * kernel + tap];
    }
    return builder_.vector(t, std::move(transposed));
  }

  Result<MlpWeights> mlp(const MlpTensors& t) {
    MlpWeights w{};
    TEAPOT_TRY(w.gate, builder_.matrix(t.gate));
    TEAPOT_TRY(w.up, builder_.matrix(t.up));
    TEAPOT_TRY(w.down, builder_.matrix(t.down));
    return w;
  }

  Result<MoeWeights> moe(const MoeTensors& t) {
    MoeWeights w{};
    TEAPOT_TRY(w.router, builder_.matrix(t.router));
    TEAPOT_TRY(const MlpWeights experts, std::visit([this](const auto& layout) { return this->experts(layout); }, t.experts));
    w.gate = experts.gate;
    w.up = experts.up;
    w.down = experts.down;
    w.shared = {kNoMatrix, kNoMatrix, kNoMatrix};
    w.shared_sigmoid = kNoMatrix;
    if (t.shared) {
      TEAPOT_TRY(w.shared, mlp(t.shared->mlp));
      TEAPOT_TRY(w.shared_sigmoid, row(t.shared->sigmoid));
    }
    return w;
  }

  // [hidden] or [1, hidden] as a matrix of one row.
  Result<MatrixId> row(const TensorSpec& t) {
    TEAPOT_TRY(const Rows rows, builder_.rows(t));
    return builder_.matrix({&rows, 1}, {rows.run(0, 1)});
  }

  Result<MlpWeights> experts(const StackedExperts& t) { return mlp({t.gate, t.up, t.down}); }

  Result<MlpWeights> experts(const FusedExperts& t) {
    const uint64_t width = config_.expert_width;
    MlpWeights w{};
    TEAPOT_TRY(w.gate, grouped(t.gate_up, config_.experts, 2 * width, {{0, width}}));
    TEAPOT_TRY(w.up, grouped(t.gate_up, config_.experts, 2 * width, {{width, width}}));
    TEAPOT_TRY(w.down, builder_.matrix(t.down));
    return w;
  }

  Result<MlpWeights> experts(const SeparateExperts& t) {
    MlpWeights w{};
    TEAPOT_TRY(w.gate, stacked(t, &MlpTensors::gate, config_.expert_width));
    TEAPOT_TRY(w.up, stacked(t, &MlpTensors::up, config_.expert_width));
    TEAPOT_TRY(w.down, stacked(t, &MlpTensors::down, config_.hidden));
    return w;
  }

  Result<MatrixId> stacked(const SeparateExperts& experts, TensorSpec MlpTensors::* part, uint64_t rows_each) {
    std::vector<Rows> parts;
    std::vector<RowRun> runs;
    for (const MlpTensors& expert : experts) {
      TEAPOT_TRY(const Rows rows, builder_.rows(expert.*part));
      parts.push_back(rows);
      runs.push_back(rows.run(0, rows_each));
    }
    return builder_.matrix(parts, runs);
  }

  const ModelConfig& config_;
  const Conventions conventions_;
  WeightBuilder builder_;
};

plan::StateLayout state_layout(const ModelConfig& config, bool tiled) {
  return {
      .attention_layers = config.layer_count(Mixer::kAttention),
      .kv_heads = config.kv_heads,
      .head_dim = config.head_dim,
      .gdn_layers = config.layer_count(Mixer::kGdn),
      .conv_kernel = config.conv_kernel,
      .key_heads = config.key_heads,
      .value_heads = config.value_heads,
      .dk = config.dk,
      .dv = config.dv,
      .tiled_value_heads = tiled,
  };
}

}  // namespace

Result<BoundWeights> bind(const ModelConfig& config, const ModelTensors& tensors, const Checkpoint& checkpoint) {
  Binder binder(config, tensors.conventions, checkpoint);
  TEAPOT_TRY(ModelWeights weights, binder.model(tensors));
  return BoundWeights{binder.take(), std::move(weights), state_layout(config, tensors.conventions.tiled_value_heads)};
}

}  // namespace teapot::model
