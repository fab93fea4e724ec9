#include "model/gguf_config.h"

#include <algorithm>
#include <map>

#include "model/placement.h"

namespace teapot::model {
namespace {

const std::map<std::string, Family, std::less<>>& architectures() {
  static const std::map<std::string, Family, std::less<>> kArchitectures = {
      {"qwen3", Family::kQwen3},   {"qwen3moe", Family::kQwen3Moe},   {"qwen3next", Family::kQwen3Next},
      {"qwen35", Family::kQwen35}, {"qwen35moe", Family::kQwen35Moe},
  };
  return kArchitectures;
}

// Keys of one architecture: "block_count" is "qwen35.block_count" in the file.
class Keys {
 public:
  Keys(const Gguf& gguf, std::string architecture) : gguf_(gguf), architecture_(std::move(architecture)) {}

  std::string name(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }
  const std::string& file() const { return gguf_.path; }
  bool has(std::string_view key) const { return gguf_.has(name(key)); }
  const Gguf& gguf() const { return gguf_; }

  Result<uint32_t> required(std::string_view key, uint64_t low, uint64_t high) const {
    TEAPOT_TRY(const auto value, gguf_.unsigned_value(name(key)));
    return within(key, value, low, high);
  }

  Result<std::optional<uint32_t>> optional(std::string_view key, uint64_t low, uint64_t high) const {
    if (!has(key)) return std::nullopt;
    TEAPOT_TRY(const uint32_t value, required(key, low, high));
    return value;
  }

  Result<double> number(std::string_view key, double low, double high) const {
    TEAPOT_TRY(const auto value, gguf_.number(name(key)));
    if (!(value >= low && value <= high)) {
      return fail(ErrorKind::kInvalid, "{}: {} is {}, expected a number from {} to {}", file(), name(key), value, low, high);
    }
    return value;
  }

  bool is_list(std::string_view key) const {
    const auto it = gguf_.metadata.find(name(key));
    return it != gguf_.metadata.end() && std::holds_alternative<GgufArray>(it->second.value);
  }

  // A list with an entry for each block; MTP blocks may be left out.
  Result<std::vector<uint32_t>> per_block(std::string_view key, size_t layers, size_t blocks, uint64_t high) const {
    TEAPOT_TRY(const auto list, gguf_.integers(name(key)));
    if (list.size() != layers && list.size() != blocks) {
      return fail(ErrorKind::kInvalid, "{}: {} has {} entries, {} is {}", file(), name(key), list.size(), name("block_count"), blocks);
    }
    std::vector<uint32_t> numbers;
    for (size_t i = 0; i < layers; ++i) {
      const int64_t number = list[i];
      if (number < 0) return fail(ErrorKind::kInvalid, "{}: {} is {} for block {}, expected 0 to {}", file(), name(key), number, i, high);
      TEAPOT_TRY(const uint32_t checked, within(key, static_cast<uint64_t>(number), 0, high));
      numbers.push_back(checked);
    }
    return numbers;
  }

 private:
  Result<uint32_t> within(std::string_view key, uint64_t value, uint64_t low, uint64_t high) const {
    if (value >= low && value <= high) return static_cast<uint32_t>(value);
    return fail(ErrorKind::kInvalid, "{}: {} is {}, expected an integer from {} to {}", file(), name(key), value, low, high);
  }

  const Gguf& gguf_;
  std::string architecture_;
};

// Which blocks are recurrent: a list of flags, KV head counts of 0, or every full_attention_interval-th attends. MTP blocks are not
// counted here: the rule of the interval does not hold for them (spec 8.15).
Status read_mixers(const Keys& keys, uint32_t blocks, ModelConfig& config) {
  const size_t layers = blocks - config.mtp_layers;
  config.layers.assign(layers, {Mixer::kAttention, has_experts(config.family) ? Ffn::kMoe : Ffn::kMlp});
  if (!is_hybrid(config.family)) return {};
  if (keys.is_list("attention.recurrent_layers")) {
    TEAPOT_TRY(const auto flags, keys.per_block("attention.recurrent_layers", layers, blocks, 1));
    for (size_t i = 0; i < layers; ++i) config.layers[i].mixer = flags[i] != 0 ? Mixer::kGdn : Mixer::kAttention;
    return {};
  }
  if (keys.is_list("attention.head_count_kv")) {
    TEAPOT_TRY(const auto counts, keys.per_block("attention.head_count_kv", layers, blocks, kMaxHeads));
    if (std::ranges::find(counts, 0u) != counts.end()) {
      for (size_t i = 0; i < layers; ++i) config.layers[i].mixer = counts[i] == 0 ? Mixer::kGdn : Mixer::kAttention;
      return {};
    }
  }
  TEAPOT_TRY(const auto interval, keys.optional("full_attention_interval", 1, kMaxLayers));
  for (size_t i = 0; i < layers; ++i) {
    if ((i + 1) % interval.value_or(4) != 0) config.layers[i].mixer = Mixer::kGdn;
  }
  return {};
}

// One number, or one for each block: 0 for recurrent ones, else all the same.
Result<uint32_t> read_kv_heads(const Keys& keys, uint32_t blocks, const ModelConfig& config) {
  if (!keys.is_list("attention.head_count_kv")) return keys.required("attention.head_count_kv", 1, kMaxHeads);
  TEAPOT_TRY(const auto counts, keys.per_block("attention.head_count_kv", config.layers.size(), blocks, kMaxHeads));
  uint32_t heads = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (config.layers[i].mixer == Mixer::kGdn) continue;
    if (counts[i] == 0 || (heads != 0 && counts[i] != heads)) {
      return fail(ErrorKind::kInvalid, "{}: {} is {} for block {}, expected {}", keys.file(), keys.name("attention.head_count_kv"),
                  counts[i], i, heads == 0 ? "at least 1 in a layer that attends" : fmt::format("{} as before", heads));
    }
    heads = counts[i];
  }
  if (heads == 0) return fail(ErrorKind::kInvalid, "{}: {} is 0 for all blocks", keys.file(), keys.name("attention.head_count_kv"));
  return heads;
}

Status read_rope(const Keys& keys, ModelConfig& config) {
  TEAPOT_TRY(config.rope_theta, keys.number("rope.freq_base", 1, 1e12));
  config.rotary_dim = config.head_dim;
  if (is_hybrid(config.family) || keys.has("rope.dimension_count")) {
    TEAPOT_TRY(config.rotary_dim, keys.required("rope.dimension_count", 2, kMaxHeadDim));
  }
  config.partial_rotary_factor = static_cast<double>(config.rotary_dim) / config.head_dim;
  if (keys.has("rope.scaling.type")) {
    TEAPOT_TRY(const auto type, keys.gguf().string(keys.name("rope.scaling.type")));
    if (type != "none") {
      return fail(ErrorKind::kUnsupported, "{}: {} is \"{}\", scaled rope is not supported", keys.file(), keys.name("rope.scaling.type"),
                  type);
    }
  }
  if (!keys.has("rope.dimension_sections")) return {};
  TEAPOT_TRY(const auto sections, keys.gguf().integers(keys.name("rope.dimension_sections")));
  // Three axes; llama.cpp's converter adds a fourth entry, always 0.
  const bool sound = (sections.size() == 3 || sections.size() == 4) &&
                     std::ranges::all_of(sections, [](int64_t x) { return x >= 0 && x <= static_cast<int64_t>(kMaxHeadDim); });
  if (!sound) {
    return fail(ErrorKind::kInvalid, "{}: {} has {} entries, expected 3 or 4 integers from 0 to {}", keys.file(),
                keys.name("rope.dimension_sections"), sections.size(), kMaxHeadDim);
  }
  auto& mrope = config.mrope_section.emplace();
  for (size_t i = 0; i < 3; ++i) mrope[i] = static_cast<uint32_t>(sections[i]);
  return {};
}

Status read_attention(const Keys& keys, uint32_t blocks, ModelConfig& config) {
  TEAPOT_TRY(config.heads, keys.required("attention.head_count", 1, kMaxHeads));
  TEAPOT_TRY(config.kv_heads, read_kv_heads(keys, blocks, config));
  TEAPOT_TRY(const auto key_length, keys.optional("attention.key_length", 1, kMaxHeadDim));
  config.head_dim = key_length.value_or(config.hidden / config.heads);
  TEAPOT_TRY(const auto value_length, keys.optional("attention.value_length", 1, kMaxHeadDim));
  if (value_length && *value_length != config.head_dim) {
    return fail(ErrorKind::kUnsupported, "{}: {} is {}, but {} is {}", keys.file(), keys.name("attention.value_length"), *value_length,
                keys.name("attention.key_length"), config.head_dim);
  }
  config.attention_gate = is_hybrid(config.family);
  return read_rope(keys, config);
}

Status read_gdn(const Keys& keys, ModelConfig& config) {
  if (!is_hybrid(config.family)) return {};
  TEAPOT_TRY(config.conv_kernel, keys.required("ssm.conv_kernel", 2, kMaxConvKernel));
  TEAPOT_TRY(config.dk, keys.required("ssm.state_size", 1, kMaxHeadDim));
  TEAPOT_TRY(config.key_heads, keys.required("ssm.group_count", 1, kMaxHeads));
  TEAPOT_TRY(config.value_heads, keys.required("ssm.time_step_rank", 1, kMaxHeads));
  TEAPOT_TRY(const uint32_t inner, keys.required("ssm.inner_size", 1, kMaxHeads * kMaxHeadDim));
  config.dv = config.dk;
  if (inner != config.value_heads * config.dv) {
    return fail(ErrorKind::kInvalid, "{}: {} is {}, expected {} ({}) times {} ({})", keys.file(), keys.name("ssm.inner_size"), inner,
                keys.name("ssm.time_step_rank"), config.value_heads, keys.name("ssm.state_size"), config.dv);
  }
  return {};
}

Status read_ffn(const Keys& keys, ModelConfig& config) {
  if (!has_experts(config.family)) {
    TEAPOT_TRY(config.intermediate, keys.required("feed_forward_length", 1, kMaxWidth));
    return {};
  }
  TEAPOT_TRY(config.experts, keys.required("expert_count", 1, kMaxExperts));
  TEAPOT_TRY(config.top_k, keys.required("expert_used_count", 1, kMaxExperts));
  TEAPOT_TRY(config.expert_width, keys.required("expert_feed_forward_length", 1, kMaxWidth));
  if (config.family != Family::kQwen3Moe) {
    TEAPOT_TRY(const auto shared, keys.optional("expert_shared_feed_forward_length", 0, kMaxWidth));
    config.shared_width = shared.value_or(config.expert_width);
  }
  if (keys.has("expert_weights_norm")) {
    TEAPOT_TRY(const auto norm, keys.gguf().boolean(keys.name("expert_weights_norm")));
    config.renormalise = norm;
  }
  return {};
}

// One entry of each list for a token; tokens index rows of the embedding, padding rows may be without.
Status check_tokenizer(const Keys& keys, const ModelConfig& config) {
  const auto length = [&](std::string_view key) -> std::optional<size_t> {
    const auto it = keys.gguf().metadata.find(key);
    if (it == keys.gguf().metadata.end()) return std::nullopt;
    const auto* list = std::get_if<GgufArray>(&it->second.value);
    return list == nullptr ? 0 : list->count;
  };
  const auto tokens = length("tokenizer.ggml.tokens");
  const auto types = length("tokenizer.ggml.token_type");
  if (!tokens) return {};
  if (*tokens > config.vocab) {
    return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.tokens has {} entries, but token_embd.weight only {} rows", keys.file(), *tokens,
                config.vocab);
  }
  if (types && *types != *tokens) {
    return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.token_type has {} entries, but tokenizer.ggml.tokens {}", keys.file(), *types,
                *tokens);
  }
  return {};
}

// Rows of the embedding: a key that not every converter writes, else the tensor says it.
Result<uint32_t> read_vocab(const Keys& keys, uint32_t hidden) {
  TEAPOT_TRY(const auto vocab, keys.optional("vocab_size", 1, kMaxVocab));
  if (vocab) return *vocab;
  const Tensor* embedding = keys.gguf().checkpoint.find("token_embd.weight");
  if (embedding == nullptr) return fail(ErrorKind::kInvalid, "{}: tensor token_embd.weight is missing", keys.file());
  if (embedding->shape.size() != 2 || embedding->shape[1] != hidden || embedding->shape[0] > kMaxVocab) {
    return fail(ErrorKind::kInvalid, "{}: tensor token_embd.weight has shape {}, expected [tokens, {}]", keys.file(),
                shape_text(embedding->shape), hidden);
  }
  return static_cast<uint32_t>(embedding->shape[0]);
}

Result<Family> read_family(const Gguf& gguf, const std::string& architecture) {
  const auto it = architectures().find(architecture);
  if (it != architectures().end()) return it->second;
  std::string known;
  for (const auto& [name, family] : architectures()) known += (known.empty() ? "" : ", ") + name;
  return fail(ErrorKind::kUnsupported, "{}: general.architecture is \"{}\", which is none of {}", gguf.path, architecture, known);
}

}  // namespace

Result<ModelConfig> read_gguf_config(const Gguf& gguf) {
  TEAPOT_TRY(const auto architecture, gguf.string("general.architecture"));
  ModelConfig config{};
  TEAPOT_TRY(config.family, read_family(gguf, architecture));
  const Keys keys(gguf, architecture);
  TEAPOT_TRY(config.hidden, keys.required("embedding_length", 1, kMaxHidden));
  TEAPOT_TRY(const uint32_t blocks, keys.required("block_count", 1, kMaxLayers));
  TEAPOT_TRY(const auto mtp, keys.optional("nextn_predict_layers", 0, kMaxMtpLayers));
  config.mtp_layers = mtp.value_or(0);
  if (config.mtp_layers > 1 || config.mtp_layers >= blocks) {
    return fail(ErrorKind::kUnsupported, "{}: {} is {} of {} blocks, expected 0 or 1", keys.file(), keys.name("nextn_predict_layers"),
                config.mtp_layers, blocks);
  }
  TEAPOT_CHECK(read_mixers(keys, blocks, config));
  TEAPOT_TRY(config.rms_norm_eps, keys.number("attention.layer_norm_rms_epsilon", 1e-30, 1));
  TEAPOT_CHECK(read_attention(keys, blocks, config));
  TEAPOT_CHECK(read_gdn(keys, config));
  TEAPOT_CHECK(read_ffn(keys, config));
  TEAPOT_TRY(config.vocab, read_vocab(keys, config.hidden));
  config.tied = gguf.checkpoint.find("output.weight") == nullptr;
  TEAPOT_TRY(config.max_position, keys.optional("context_length", 1, kMaxPosition));
  if (gguf.has("tokenizer.ggml.eos_token_id")) {
    TEAPOT_TRY(const auto eos, gguf.unsigned_value("tokenizer.ggml.eos_token_id"));
    if (eos >= config.vocab) {
      return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.eos_token_id is {}, expected a number below {}", keys.file(), eos, config.vocab);
    }
    config.eos_ids = {static_cast<int32_t>(eos)};
  }
  TEAPOT_CHECK(check_tokenizer(keys, config));
  TEAPOT_CHECK(check_relations(config,
                               {
                                   .hidden = keys.name("embedding_length"),
                                   .heads = keys.name("attention.head_count"),
                                   .kv_heads = keys.name("attention.head_count_kv"),
                                   .head_dim = keys.name("attention.key_length"),
                                   .rotary = keys.name("rope.dimension_count"),
                                   .experts = keys.name("expert_count"),
                                   .top_k = keys.name("expert_used_count"),
                                   .expert_width = keys.name("expert_feed_forward_length"),
                                   .key_heads = keys.name("ssm.group_count"),
                                   .value_heads = keys.name("ssm.time_step_rank"),
                                   .dk = keys.name("ssm.state_size"),
                                   .dv = keys.name("ssm.state_size"),
                               },
                               keys.file()));
  return config;
}

}  // namespace teapot::model
