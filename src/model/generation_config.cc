#include "model/generation_config.h"

#include <algorithm>
#include <filesystem>

#include "model/config_fields.h"

namespace teapot::model {
namespace {

constexpr uint64_t kMaxTopK = kMaxVocab;

struct Range {
  double low, high;
};
constexpr Range kTemperature{0, 100};
constexpr Range kProbability{0, 1};
constexpr Range kPenalty{1e-3, 1e3};

Result<std::optional<double>> number_within(const ConfigFields& fields, std::string_view key, Range range) {
  TEAPOT_TRY(const auto value, fields.number(key));
  if (value && (*value < range.low || *value > range.high)) {
    return fields.wrong(key, *fields.find(key), fmt::format("a number from {} to {}", range.low, range.high));
  }
  return value;
}

void add_id(std::vector<int32_t>& ids, int64_t id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(static_cast<int32_t>(id));
}

Result<std::optional<double>> gguf_number(const Gguf& gguf, std::string_view key, Range range) {
  if (!gguf.has(key)) return std::nullopt;
  TEAPOT_TRY(const auto value, gguf.number(key));
  if (!(value >= range.low && value <= range.high)) {
    return fail(ErrorKind::kInvalid, "{}: {} is {}, expected a number from {} to {}", gguf.path, key, value, range.low, range.high);
  }
  return value;
}

Result<std::vector<int32_t>> gguf_eos_ids(const Gguf& gguf, const ModelConfig& config) {
  std::vector<int32_t> ids = config.eos_ids;
  constexpr std::string_view kEot = "tokenizer.ggml.eot_token_id";
  if (gguf.has(kEot)) {
    TEAPOT_TRY(const auto id, gguf.unsigned_value(kEot));
    if (id >= config.vocab) return fail(ErrorKind::kInvalid, "{}: {} is {}, expected a number below {}", gguf.path, kEot, id, config.vocab);
    add_id(ids, static_cast<int64_t>(id));
  }
  if (!gguf.has("tokenizer.ggml.tokens") || !gguf.has("tokenizer.ggml.token_type")) return ids;
  TEAPOT_TRY(const auto tokens, gguf.strings("tokenizer.ggml.tokens"));
  TEAPOT_TRY(const auto types, gguf.integers("tokenizer.ggml.token_type"));
  constexpr int64_t kControl = 3;
  for (size_t i = 0; i < std::min(tokens.size(), types.size()); ++i) {
    const std::string& token = tokens[i];
    if (types[i] == kControl && (token == "<|im_end|>" || token == "<|endoftext|>")) add_id(ids, static_cast<int64_t>(i));
  }
  return ids;
}

}  // namespace

Result<GenerationConfig> read_hf_generation(const std::string& directory, const ModelConfig& config) {
  GenerationConfig defaults;
  defaults.eos_ids = config.eos_ids;
  const std::string path = (std::filesystem::path(directory) / "generation_config.json").string();
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return defaults;
  TEAPOT_TRY(const Json json, read_json_file(path));
  if (!json.is_object()) return fail(ErrorKind::kInvalid, "{}: expected a JSON object", path);
  const ConfigFields fields(json, path);
  TEAPOT_TRY(auto eos, fields.integers("eos_token_id", 0, config.vocab - 1));
  if (!eos.empty()) defaults.eos_ids = std::move(eos);
  TEAPOT_TRY(defaults.do_sample, fields.boolean("do_sample"));
  TEAPOT_TRY(defaults.temperature, number_within(fields, "temperature", kTemperature));
  TEAPOT_TRY(defaults.top_p, number_within(fields, "top_p", kProbability));
  TEAPOT_TRY(defaults.min_p, number_within(fields, "min_p", kProbability));
  TEAPOT_TRY(defaults.repetition_penalty, number_within(fields, "repetition_penalty", kPenalty));
  TEAPOT_TRY(defaults.top_k, fields.integer("top_k", 0, kMaxTopK));
  return defaults;
}

Result<GenerationConfig> read_gguf_generation(const Gguf& gguf, const ModelConfig& config) {
  GenerationConfig defaults;
  TEAPOT_TRY(defaults.eos_ids, gguf_eos_ids(gguf, config));
  TEAPOT_TRY(defaults.temperature, gguf_number(gguf, "general.sampling.temp", kTemperature));
  TEAPOT_TRY(defaults.top_p, gguf_number(gguf, "general.sampling.top_p", kProbability));
  TEAPOT_TRY(defaults.min_p, gguf_number(gguf, "general.sampling.min_p", kProbability));
  TEAPOT_TRY(const auto top_k, gguf_number(gguf, "general.sampling.top_k", {0, static_cast<double>(kMaxTopK)}));
  if (top_k) defaults.top_k = static_cast<uint32_t>(*top_k);
  return defaults;
}

}  // namespace teapot::model
