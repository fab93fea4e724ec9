#include "model/inspect.h"

#include "model/config_facts.h"
#include "model/sizes.h"
#include "model/weight_bytes.h"

namespace teapot::model {
namespace {

Json type_facts(const Checkpoint& checkpoint) {
  Json types = Json::object();
  for (const Tensor& tensor : checkpoint.tensors) {
    Json& type = types[tensor.type_name];
    if (type.is_null()) type = {{"tensors", 0}, {"bytes", 0}};
    type["tensors"] = type["tensors"].get<uint64_t>() + 1;
    type["bytes"] = type["bytes"].get<uint64_t>() + tensor.bytes;
  }
  return types;
}

Json tensor_facts(const Checkpoint& checkpoint) {
  Json tensors = Json::array();
  for (const Tensor& tensor : checkpoint.tensors) {
    tensors.push_back({{"name", tensor.name}, {"type", tensor.type_name}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  }
  return tensors;
}

Json byte_facts(const Model& model) {
  const WeightBytes bytes = count_weight_bytes(model);
  Json parts = Json::object();
  const auto add = [&parts](const char* name, uint64_t count) {
    if (count > 0) parts[name] = count;
  };
  add("embedding", bytes.embedding);
  add("head", bytes.head);
  add("attention", bytes.attention);
  add("gdn", bytes.gdn);
  add("mlp", bytes.mlp);
  add("router", bytes.router);
  add("experts", bytes.experts);
  add("shared_expert", bytes.shared_expert);
  add("norms", bytes.norms);
  add("mtp", bytes.mtp);
  parts["total"] = bytes.total();
  return parts;
}

Json generation_facts(const GenerationConfig& generation) {
  Json facts;
  facts["eos_ids"] = generation.eos_ids;
  const auto add = [&facts](const char* name, const auto& value) {
    if (value) facts[name] = *value;
  };
  add("do_sample", generation.do_sample);
  add("temperature", generation.temperature);
  add("top_k", generation.top_k);
  add("top_p", generation.top_p);
  add("min_p", generation.min_p);
  add("repetition_penalty", generation.repetition_penalty);
  return facts;
}

Json mtp_facts(const Model& model) {
  if (!model.ids.mtp) return {{"present", false}};
  return {{"present", true},
          {"layers", model.ids.mtp->layers.size()},
          {"own_embedding", model.ids.mtp->embedding != model.ids.embedding},
          {"own_head", model.ids.mtp->head != model.ids.head},
          {"kv_bytes_per_token_f16", mtp_kv_bytes_per_token(model.config, 2)},
          {"hidden_bytes_per_sequence", hidden_bytes_per_sequence(model.config)},
          {"log_bytes_per_row", verify_log_bytes_per_row(model.config)},
          {"log_bytes_per_sequence",
           {{"4", verify_log_bytes_per_sequence(model.config, 4)}, {"8", verify_log_bytes_per_sequence(model.config, 8)}}}};
}

Json skip_facts(const SkippedByReason& skipped) {
  Json facts = Json::object();
  for (const auto& [reason, what] : skipped) facts[reason] = {{"tensors", what.tensors}, {"bytes", what.bytes}};
  return facts;
}

}  // namespace

Json inspect_config(const ModelConfig& config) {
  Json facts = config_facts(config);
  Json kinds = Json::array();
  for (const LayerKind& layer : config.layers) {
    kinds.push_back({{"mixer", layer.mixer == Mixer::kAttention ? "full_attention" : "linear_attention"},
                     {"ffn", layer.ffn == Ffn::kMoe ? "moe" : "mlp"}});
  }
  facts["layer_kinds"] = std::move(kinds);
  facts["context_length"] = config.context_length();
  return facts;
}

Json inspect_model(const Model& model) {
  Json facts;
  facts["path"] = model.path;
  facts["format"] = model.gguf() != nullptr ? "gguf" : "safetensors";
  facts["files"] = model.checkpoint().files.size();
  facts.update(inspect_config(model.config));
  facts["bytes_by_part"] = byte_facts(model);
  facts["bytes_read_per_token"] = bytes_read_per_token(model);
  facts["kv_bytes_per_token_f16"] = kv_bytes_per_token(model.config, 2);
  facts["state_bytes_per_sequence_f32"] = state_bytes_per_sequence(model.config);
  facts["tiled_value_heads"] = model.layout.tiled_value_heads;
  facts["mtp"] = mtp_facts(model);
  facts["generation"] = generation_facts(model.generation);
  facts["skipped"] = skip_facts(model.skipped);
  facts["notes"] = model.notes;
  facts["types"] = type_facts(model.checkpoint());
  facts["tensors"] = tensor_facts(model.checkpoint());
  return facts;
}

}  // namespace teapot::model
