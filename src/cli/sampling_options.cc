#include "cli/sampling_options.h"

#include <charconv>

#include "cli/number_checks.h"

namespace teapot::cli {
namespace {

template <class T>
Status parse_number(const std::string& name, const std::string& text, T& value) {
  T parsed{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || rest != text.data() + text.size())
    return fail(ErrorKind::kInvalid, "{}: '{}' is no number that it can have", name, text);
  value = parsed;
  return {};
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  command.add_option("--temperature", options.temperature, "0: the most likely token always")->check(CLI::Range(0.0, 100.0));
  command.add_option("--top-k", options.top_k, "Choose among the k most likely tokens; 0: among all")->check(kNotNegative);
  command.add_option("--top-p", options.top_p, "Choose among the tokens that make up this share")->check(CLI::Range(1e-9, 1.0));
  command.add_option("--min-p", options.min_p, "Leave out tokens with less than this share of the best one's probability");
  command.add_option("--presence-penalty", options.presence_penalty, "Taken off the logits of tokens that the reply has");
  command.add_option("--frequency-penalty", options.frequency_penalty, "Taken off the logits for each time that the reply has the token");
  command.add_option("--repetition-penalty", options.repetition_penalty, "Divides the logits of tokens of prompt and reply; 1: off");
  command.add_option("--seed", options.seed, "The same seed and request give the same reply")->check(kNotNegative);
}

void apply(const SamplingOptions& options, engine::SamplingParams& sampling) {
  sampling.temperature = options.temperature.value_or(sampling.temperature);
  sampling.top_k = options.top_k.value_or(sampling.top_k);
  sampling.top_p = options.top_p.value_or(sampling.top_p);
  sampling.min_p = options.min_p.value_or(sampling.min_p);
  sampling.presence_penalty = options.presence_penalty.value_or(sampling.presence_penalty);
  sampling.frequency_penalty = options.frequency_penalty.value_or(sampling.frequency_penalty);
  sampling.repetition_penalty = options.repetition_penalty.value_or(sampling.repetition_penalty);
  if (options.seed) sampling.seed = options.seed;
}

Status set_parameter(engine::SamplingParams& sampling, const std::string& name, const std::string& value) {
  if (name == "temperature") return parse_number(name, value, sampling.temperature);
  if (name == "top_k") return parse_number(name, value, sampling.top_k);
  if (name == "top_p") return parse_number(name, value, sampling.top_p);
  if (name == "min_p") return parse_number(name, value, sampling.min_p);
  if (name == "presence_penalty") return parse_number(name, value, sampling.presence_penalty);
  if (name == "frequency_penalty") return parse_number(name, value, sampling.frequency_penalty);
  if (name == "repetition_penalty") return parse_number(name, value, sampling.repetition_penalty);
  if (name == "seed") {
    uint64_t seed = 0;
    TEAPOT_CHECK(parse_number(name, value, seed));
    sampling.seed = seed;
    return {};
  }
  return fail(
      ErrorKind::kInvalid,
      "no parameter '{}'; there are temperature, top_k, top_p, min_p, presence_penalty, frequency_penalty, repetition_penalty, seed, "
      "max_tokens, thinking",
      name);
}

std::string describe(const engine::SamplingParams& sampling) {
  std::string text =
      fmt::format("temperature {}, top_k {}, top_p {}, min_p {}, presence_penalty {}, frequency_penalty {}, repetition_penalty {}",
                  sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p, sampling.presence_penalty,
                  sampling.frequency_penalty, sampling.repetition_penalty);
  if (sampling.seed) text += fmt::format(", seed {}", *sampling.seed);
  return text;
}

}  // namespace teapot::cli
