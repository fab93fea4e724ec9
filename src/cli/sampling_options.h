// Sampling parameters as options of a command, and by name (`/set` of the chat).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/error.h"
#include "engine/request.h"

namespace teapot::cli {

// What was given on the command line; the rest comes from the checkpoint's generation_config.json.
struct SamplingOptions {
  std::optional<float> temperature, top_p, min_p, presence_penalty, frequency_penalty, repetition_penalty;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
};

void add_sampling_options(CLI::App& command, SamplingOptions& options);

void apply(const SamplingOptions& options, engine::SamplingParams& sampling);

// "temperature", "0.7": sets one by its name. kInvalid names the names there are, or the value that is no number.
Status set_parameter(engine::SamplingParams& sampling, const std::string& name, const std::string& value);

// "temperature 0.6, top_k 20, top_p 0.95, ..."
std::string describe(const engine::SamplingParams& sampling);

}  // namespace teapot::cli
