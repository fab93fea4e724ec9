#include "model/tensor_roles.h"

namespace teapot::model {
namespace {

class Lister {
 public:
  void add(const TensorSpec& tensor) { tensors_.push_back(tensor); }

  void add(const std::optional<TensorSpec>& tensor) {
    if (tensor) tensors_.push_back(*tensor);
  }

  void add(const AttentionTensors& t) { add_all(t.q, t.k, t.v, t.o, t.q_norm, t.k_norm); }
  void add(const GdnTensors& t) { add_all(t.qkv, t.z, t.b, t.a, t.conv, t.decay, t.dt_bias, t.norm, t.out); }
  void add(const MlpTensors& t) { add_all(t.gate, t.up, t.down); }
  void add(const StackedExperts& t) { add_all(t.gate, t.up, t.down); }
  void add(const FusedExperts& t) { add_all(t.gate_up, t.down); }

  void add(const SeparateExperts& experts) {
    for (const MlpTensors& expert : experts) add(expert);
  }

  void add(const MoeTensors& t) {
    add(t.router);
    std::visit([this](const auto& experts) { add(experts); }, t.experts);
    if (t.shared) add_all(t.shared->mlp, t.shared->sigmoid);
  }

  void add(const LayerTensors& t) {
    add_all(t.mixer_norm, t.ffn_norm);
    std::visit([this](const auto& mixer) { add(mixer); }, t.mixer);
    std::visit([this](const auto& ffn) { add(ffn); }, t.ffn);
  }

  template <class... Ts>
  void add_all(const Ts&... ts) {
    (add(ts), ...);
  }

  std::vector<TensorSpec> take() { return std::move(tensors_); }

 private:
  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<TensorSpec> all_tensors(const ModelTensors& model) {
  Lister list;
  list.add_all(model.embedding, model.head, model.final_norm);
  for (const LayerTensors& layer : model.layers) list.add(layer);
  if (model.mtp) {
    list.add_all(model.mtp->combine, model.mtp->embedding_norm, model.mtp->hidden_norm, model.mtp->final_norm);
    for (const LayerTensors& layer : model.mtp->layers) list.add(layer);
    list.add_all(model.mtp->embedding, model.mtp->head);
  }
  return list.take();
}

}  // namespace teapot::model
