#include "model/model.h"

#include <cstring>
#include <set>

#include "model/bind.h"
#include "model/gguf_config.h"
#include "model/gguf_tensors.h"
#include "model/hf_config.h"
#include "model/hf_tensors.h"

namespace teapot::model {
namespace {

// What the tensors say about MTP against what the configuration says, for the user.
std::vector<std::string> mtp_notes(const ModelConfig& config, const ModelTensors& tensors) {
  if (tensors.mtp || config.mtp_layers == 0) return {};
  return {fmt::format("the configuration counts {} MTP layer{}, the checkpoint has none: no speculative decoding by MTP", config.mtp_layers,
                      config.mtp_layers == 1 ? "" : "s")};
}

std::vector<std::string> skip_notes(const SkippedByReason& skipped) {
  std::vector<std::string> notes;
  for (const auto& [reason, what] : skipped) {
    notes.push_back(fmt::format("skipped {} tensor{}, {:.1f} MB: {}", what.tensors, what.tensors == 1 ? "" : "s",
                                static_cast<double>(what.bytes) / 1e6, reason));
  }
  return notes;
}

// Tied weights are written once or twice; twice must mean the same.
Status check_tied(const ModelConfig& config, const ModelTensors& tensors, const Checkpoint& checkpoint) {
  const Tensor* head = checkpoint.find("lm_head.weight");
  if (!config.tied || head == nullptr) return {};
  const Tensor* embedding = checkpoint.find(tensors.embedding.name);
  if (head->type_name == embedding->type_name && head->shape == embedding->shape &&
      std::memcmp(head->data, embedding->data, head->bytes) == 0) {
    return {};
  }
  return fail(ErrorKind::kInvalid, "{}: tie_word_embeddings is true, but lm_head.weight and {} differ", checkpoint.path_of(*head),
              embedding->name);
}

// Takes MTP out of what is to be bound, once the file has been checked with it.
void leave_mtp_out(Model& model, ModelTensors& tensors) {
  if (!tensors.mtp) return;
  std::set<std::string> with;
  for (const TensorSpec& spec : all_tensors(tensors)) with.insert(spec.name);
  tensors.mtp.reset();
  for (const TensorSpec& spec : all_tensors(tensors)) with.erase(spec.name);
  Skipped& skipped = model.skipped["mtp is off"];
  for (const std::string& name : with) {
    ++skipped.tensors;
    skipped.bytes += model.checkpoint().find(name)->bytes;
  }
}

Status bind_into(Model& model, ModelTensors tensors, const WeightOptions& options) {
  std::vector<std::string> notes = mtp_notes(model.config, tensors);
  if (!options.mtp) leave_mtp_out(model, tensors);
  TEAPOT_TRY(BoundWeights bound, bind(model.config, tensors, model.checkpoint()));
  model.weights = std::move(bound.table);
  model.ids = std::move(bound.weights);
  model.layout = bound.layout;
  model.notes = std::move(notes);
  for (std::string& note : skip_notes(model.skipped)) model.notes.push_back(std::move(note));
  auto formats = choose_formats(options, model.ids, model.weights);
  if (!formats) return at(model.path, std::move(formats).error());
  model.switches = std::move(formats->switches);
  for (std::string& note : formats->notes) model.notes.push_back(std::move(note));
  return {};
}

Result<Model> load_directory(const Source& source, const WeightOptions& options) {
  Model model{};
  model.path = source.path;
  TEAPOT_TRY(model.config, load_config(source));
  TEAPOT_TRY(model.generation, read_hf_generation(source.path, model.config));
  TEAPOT_TRY(Checkpoint opened, open_safetensors(source.path));
  const Checkpoint& checkpoint = model.source.emplace<Checkpoint>(std::move(opened));
  TEAPOT_TRY(ModelTensors tensors, hf_tensors(model.config, checkpoint));
  TEAPOT_TRY(model.skipped, check_tensors(checkpoint, tensors, [&](const Tensor& tensor) { return hf_skip_reason(model.config, tensor); }));
  TEAPOT_CHECK(check_tied(model.config, tensors, checkpoint));
  TEAPOT_CHECK(bind_into(model, std::move(tensors), options));
  return model;
}

Result<Model> load_gguf(const Source& source, const WeightOptions& options) {
  Model model{};
  model.path = source.path;
  TEAPOT_TRY(Gguf opened, open_gguf(source.path));
  const Gguf& gguf = model.source.emplace<Gguf>(std::move(opened));
  TEAPOT_TRY(model.config, read_gguf_config(gguf));
  TEAPOT_TRY(model.generation, read_gguf_generation(gguf, model.config));
  ModelTensors tensors = gguf_tensors(model.config, gguf.checkpoint);
  TEAPOT_TRY(model.skipped, check_tensors(gguf.checkpoint, tensors,
                                          [&](const Tensor& tensor) { return gguf_skip_reason(model.config, gguf.checkpoint, tensor); }));
  TEAPOT_CHECK(bind_into(model, std::move(tensors), options));
  return model;
}

}  // namespace

Status Model::speculate(uint32_t depth) {
  if (!ids.mtp) return fail(ErrorKind::kUnsupported, "{}: the checkpoint has no MTP layer", path);
  const std::vector<LayerWeights>& layers = ids.mtp->layers;
  if (layers.size() != 1 || !std::holds_alternative<AttentionWeights>(layers.front().mixer)) {
    return fail(ErrorKind::kUnsupported, "{}: {} MTP layer{} {}; one with attention is supported", path, layers.size(),
                layers.size() == 1 ? "" : "s",
                std::holds_alternative<AttentionWeights>(layers.front().mixer) ? "with attention" : "without attention");
  }
  layout.mtp_layers = 1;
  layout.hidden = config.hidden;
  layout.verify_rows = depth + 1;
  return {};
}

Result<ModelConfig> load_config(const Source& source) {
  TEAPOT_TRY(const Json json, read_json_file(source.config));
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: expected a JSON object", source.config);
  TEAPOT_TRY(const auto quantization, find_quantization(json, source.path));
  if (quantization) {
    return fail(ErrorKind::kUnsupported, "{}: the weights are quantized by {} ({}; said by {}), which is not supported", source.config,
                quantization->method, quantization->algorithm, quantization->where);
  }
  return read_hf_config(json, source.config);
}

Result<Model> load_model(const std::string& path, const WeightOptions& options) {
  TEAPOT_TRY(const Source source, find_source(path));
  switch (source.kind) {
    case SourceKind::kHuggingFace:
      return load_directory(source, options);
    case SourceKind::kGguf:
      return load_gguf(source, options);
    case SourceKind::kConfigOnly:
      break;
  }
  return fail(ErrorKind::kNotFound, "{}: only a configuration, expected model.safetensors or model.safetensors.index.json in {}",
              source.config, source.path);
}

}  // namespace teapot::model
