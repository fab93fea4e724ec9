#include "model/weight_bytes.h"

namespace teapot::model {
namespace {

class Counter {
 public:
  explicit Counter(const plan::WeightTable& weights) : weights_(weights) {}

  uint64_t bytes(plan::MatrixId id) const { return id == plan::kNoMatrix ? 0 : weights_[id].bytes(); }
  uint64_t bytes(plan::VectorId id) const { return weights_[id].values.size() * sizeof(float); }

  template <class... Ids>
  uint64_t bytes(Ids... ids) const {
    return (bytes(ids) + ...);
  }

  void add(const LayerWeights& layer, WeightBytes& sum) const {
    sum.norms += bytes(layer.mixer_norm, layer.ffn_norm);
    if (const auto* attention = std::get_if<AttentionWeights>(&layer.mixer)) {
      const auto& w = *attention;
      sum.attention += bytes(w.q, w.gate, w.k, w.v, w.o, w.q_norm, w.k_norm);
    } else {
      const auto& w = std::get<GdnWeights>(layer.mixer);
      sum.gdn += bytes(w.qkv, w.z, w.b, w.a, w.out, w.conv, w.neg_exp_a_log, w.dt_bias, w.norm);
    }
    if (const auto* mlp = std::get_if<MlpWeights>(&layer.ffn)) {
      sum.mlp += bytes(mlp->gate, mlp->up, mlp->down);
    } else {
      const auto& w = std::get<MoeWeights>(layer.ffn);
      sum.router += bytes(w.router);
      sum.experts += bytes(w.gate, w.up, w.down);
      sum.shared_expert += bytes(w.shared.gate, w.shared.up, w.shared.down, w.shared_sigmoid);
    }
  }

 private:
  const plan::WeightTable& weights_;
};

}  // namespace

uint64_t WeightBytes::total() const { return embedding + head + attention + gdn + mlp + router + experts + shared_expert + norms + mtp; }

WeightBytes count_weight_bytes(const Model& model) {
  const Counter count(model.weights);
  const ModelWeights& ids = model.ids;
  WeightBytes sum;
  sum.embedding = count.bytes(ids.embedding);
  if (ids.head != ids.embedding) sum.head = count.bytes(ids.head);
  sum.norms = count.bytes(ids.final_norm);
  for (const LayerWeights& layer : ids.layers) count.add(layer, sum);
  if (ids.mtp) {
    WeightBytes mtp;
    mtp.norms = count.bytes(ids.mtp->combine, ids.mtp->embedding_norm, ids.mtp->hidden_norm, ids.mtp->final_norm);
    for (const LayerWeights& layer : ids.mtp->layers) count.add(layer, mtp);
    if (ids.mtp->embedding != ids.embedding) mtp.embedding = count.bytes(ids.mtp->embedding);
    if (ids.mtp->head != ids.head) mtp.head = count.bytes(ids.mtp->head);
    sum.mtp = mtp.total();
  }
  return sum;
}

uint64_t bytes_read_per_token(const Model& model) {
  const WeightBytes bytes = count_weight_bytes(model);
  uint64_t read = bytes.total() - bytes.mtp;
  if (bytes.head > 0) read -= bytes.embedding - bytes.embedding / model.config.vocab;
  if (model.config.experts > 0) read -= bytes.experts - bytes.experts / model.config.experts * model.config.top_k;
  return read;
}

}  // namespace teapot::model
