// How drafts are made in measurements: how often they hold, and over which prompts.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/model_options.h"
#include "workbench/reply_turn.h"

namespace teapot::cli {

struct DraftArguments {
  std::optional<std::string> accept_rates, prompts;
};

// --accept-rate, --prompts.
std::vector<CLI::Option*> add_draft_arguments(CLI::App& command, DraftArguments& arguments);

// "0.8,0.6;0.1": lists of rates; none without the option. kInvalid for what is no number.
Result<workbench::AcceptRates> parse_accept_rates(const DraftArguments& arguments);

// Those of the file, a line a prompt, as a user's message or, where the model has no template, as it is; none without the option.
// kNotFound where there are none in it.
Result<std::vector<std::vector<int32_t>>> read_prompts(const DraftArguments& arguments, const ModelOptions& model);

}  // namespace teapot::cli
