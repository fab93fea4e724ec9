#include "server/common_request.h"

#include <charconv>
#include <limits>

#include "engine/sampling_defaults.h"

namespace teapot::server {
namespace {

constexpr int64_t kMaxTokens = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxChoices = 128;
constexpr size_t kMaxStops = 64;
constexpr size_t kMaxStopBytes = 4096;

ApiResult<std::map<int32_t, float>> parse_logit_bias(const Fields& fields, uint32_t vocab_size) {
  std::map<int32_t, float> bias;
  TEAPOT_TRY(const Json* map, fields.object("logit_bias"));
  if (map == nullptr) return bias;
  for (const auto& [key, value] : map->items()) {
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc{} || end != key.data() + key.size() || id >= vocab_size)
      return bad_field("logit_bias", fmt::format("'logit_bias' has the key '{}', expected a token id below {}", key, vocab_size));
    if (!value.is_number() || value.get<double>() < -100 || value.get<double>() > 100)
      return bad_field("logit_bias",
                       fmt::format("'logit_bias' of token {} must be a number between -100 and 100, found {}", id, dump_json(value)));
    bias[static_cast<int32_t>(id)] = value.get<float>();
  }
  return bias;
}

ApiResult<std::vector<int32_t>> parse_stop_ids(const Fields& fields, uint32_t vocab_size) {
  std::vector<int32_t> ids;
  TEAPOT_TRY(const Json* list, fields.array("stop_token_ids"));
  if (list == nullptr) return ids;
  for (const Json& id : *list) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= vocab_size)
      return bad_field("stop_token_ids", fmt::format("'stop_token_ids' must hold token ids below {}, found {}", vocab_size, dump_json(id)));
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

ApiResult<std::vector<std::string>> parse_stop(const Fields& fields) {
  std::vector<std::string> stop;
  const Json* field = fields.find("stop");
  if (field == nullptr) return stop;
  const auto add = [&stop](const Json& text) {
    if (!text.is_string() || text.get_ref<const std::string&>().empty() || text.get_ref<const std::string&>().size() > kMaxStopBytes)
      return false;
    stop.push_back(text.get<std::string>());
    return stop.size() <= kMaxStops;
  };
  bool good = true;
  if (field->is_array()) {
    for (const Json& text : *field) good = good && add(text);
  } else {
    good = add(*field);
  }
  if (!good)
    return bad_field(
        "stop", fmt::format("'stop' must be a string or up to {} strings, none empty or longer than {} bytes", kMaxStops, kMaxStopBytes));
  return stop;
}

ApiResult<engine::SamplingParams> parse_sampling(const Fields& fields, const RequestDefaults& defaults) {
  engine::SamplingParams sampling = engine::default_sampling(defaults.generation);
  TEAPOT_TRY(const auto temperature, fields.number("temperature", 0, 100));
  TEAPOT_TRY(const auto top_p, fields.number("top_p", 0, 1));
  TEAPOT_TRY(const auto top_k, fields.integer("top_k", -1, kMaxTokens));
  TEAPOT_TRY(const auto min_p, fields.number("min_p", 0, 1));
  TEAPOT_TRY(const auto presence, fields.number("presence_penalty", -2, 2));
  TEAPOT_TRY(const auto frequency, fields.number("frequency_penalty", -2, 2));
  TEAPOT_TRY(const auto repetition, fields.number("repetition_penalty", 0.01, 100));
  TEAPOT_TRY(const auto seed, fields.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  if (top_p && *top_p == 0) return bad_field("top_p", "'top_p' must be above 0");
  if (temperature) sampling.temperature = static_cast<float>(*temperature);
  if (top_p) sampling.top_p = static_cast<float>(*top_p);
  if (top_k) sampling.top_k = static_cast<int>(std::max<int64_t>(0, *top_k));
  if (min_p) sampling.min_p = static_cast<float>(*min_p);
  if (presence) sampling.presence_penalty = static_cast<float>(*presence);
  if (frequency) sampling.frequency_penalty = static_cast<float>(*frequency);
  if (repetition) sampling.repetition_penalty = static_cast<float>(*repetition);
  if (seed) sampling.seed = static_cast<uint64_t>(*seed);
  TEAPOT_TRY(sampling.logit_bias, parse_logit_bias(fields, defaults.vocab_size));
  return sampling;
}

// How many tokens the MTP layer drafts for a step of this reply.
ApiResult<std::optional<uint32_t>> parse_speculation(const Fields& fields, uint32_t limit) {
  TEAPOT_TRY(const Json* options, fields.object("speculation"));
  if (options == nullptr) return std::nullopt;
  for (const auto& [key, value] : options->items()) {
    if (key != "depth") return bad_field("speculation", fmt::format("'speculation' has no field '{}', expected 'depth'", key));
  }
  const auto depth = Fields(*options).integer("depth", 0, engine::kMaxDrafts);
  if (!depth) return bad_field("speculation.depth", depth.error().message);
  if (!*depth) return bad_field("speculation.depth", "'speculation' needs the field 'depth'");
  if (**depth > limit) {
    return bad_field("speculation.depth", limit == 0
                                              ? fmt::format("'depth' is {}: this server does not speculate (--mtp)", **depth)
                                              : fmt::format("'depth' is {}: this server drafts at most {} tokens (--mtp)", **depth, limit));
  }
  return static_cast<uint32_t>(**depth);
}

ApiResult<void> parse_streaming(const Fields& fields, CommonRequest& request) {
  TEAPOT_TRY(const auto stream, fields.boolean("stream"));
  request.stream = stream.value_or(false);
  TEAPOT_TRY(const Json* options, fields.object("stream_options"));
  if (options == nullptr) return {};
  if (!request.stream) return bad_field("stream_options", "'stream_options' is only allowed with stream: true");
  const auto include_usage = Fields(*options).boolean("include_usage");
  if (!include_usage) return bad_field("stream_options.include_usage", include_usage.error().message);
  request.include_usage = include_usage->value_or(false);
  const auto continuous = Fields(*options).boolean("continuous_usage_stats");
  if (!continuous) return bad_field("stream_options.continuous_usage_stats", continuous.error().message);
  request.continuous_usage = continuous->value_or(false);
  if (request.continuous_usage && !request.include_usage)
    return bad_field("stream_options.continuous_usage_stats", "'continuous_usage_stats' needs include_usage: true");
  return {};
}

}  // namespace

ApiResult<CommonRequest> parse_common(const Json& body, const RequestDefaults& defaults) {
  const Fields fields(body);
  TEAPOT_TRY(const auto model, fields.string("model"));
  if (model && *model != defaults.served_name)
    return std::unexpected(ApiError{404,
                                    fmt::format("the model '{}' does not exist; this server serves '{}'", *model, defaults.served_name),
                                    "model", "model_not_found", 0});

  CommonRequest request;
  TEAPOT_TRY(request.generate.sampling, parse_sampling(fields, defaults));
  TEAPOT_TRY(request.generate.stop_token_ids, parse_stop_ids(fields, defaults.vocab_size));
  TEAPOT_TRY(request.stop, parse_stop(fields));
  TEAPOT_CHECK(parse_streaming(fields, request));
  TEAPOT_TRY(request.generate.draft_depth, parse_speculation(fields, defaults.draft_limit));

  TEAPOT_TRY(const auto max_tokens, fields.integer("max_tokens", 1, kMaxTokens));
  TEAPOT_TRY(const auto max_completion_tokens, fields.integer("max_completion_tokens", 1, kMaxTokens));
  if (max_tokens && max_completion_tokens && *max_tokens != *max_completion_tokens)
    return bad_field("max_tokens",
                     fmt::format("'max_tokens' is {} and 'max_completion_tokens' is {}: give one", *max_tokens, *max_completion_tokens));
  request.generate.max_tokens = static_cast<uint32_t>(max_completion_tokens.value_or(max_tokens.value_or(0)));
  TEAPOT_TRY(const auto min_tokens, fields.integer("min_tokens", 0, kMaxTokens));
  request.generate.min_tokens = static_cast<uint32_t>(min_tokens.value_or(0));
  if (request.generate.max_tokens != 0 && request.generate.min_tokens > request.generate.max_tokens)
    return bad_field("min_tokens", fmt::format("'min_tokens' is {}, more than the {} of max_tokens", request.generate.min_tokens,
                                               request.generate.max_tokens));
  TEAPOT_TRY(const auto ignore_eos, fields.boolean("ignore_eos"));
  request.generate.ignore_eos = ignore_eos.value_or(false);
  TEAPOT_TRY(const auto include_stop, fields.boolean("include_stop_str_in_output"));
  request.include_stop_str_in_output = include_stop.value_or(false);
  TEAPOT_TRY(const auto skip_special, fields.boolean("skip_special_tokens"));
  request.skip_special_tokens = skip_special.value_or(true);

  TEAPOT_TRY(const auto n, fields.integer("n", 1, kMaxChoices));
  request.choices = static_cast<uint32_t>(n.value_or(1));
  if (request.choices > defaults.max_seqs)
    return bad_field(
        "n", fmt::format("'n' is {}: this server runs at most {} sequences at once (--max-seqs)", request.choices, defaults.max_seqs));
  return request;
}

}  // namespace teapot::server
