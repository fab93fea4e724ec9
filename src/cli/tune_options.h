// The options of `teapot tune`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/tune/session.h"

namespace teapot::cli {

// As they are given.
struct TuneArguments {
  std::string catalogue, start, model, from, out, extra_args;
  std::vector<std::string> fill, knobs;
  std::string budget = "200pairs", load = "1024/512", objective = "tpot", max_ttft_harm = "5%", resolution = "5%", allow_text = "same",
              api = "chat";
  std::vector<uint32_t> parallel = {1, 4, 8};
  uint32_t requests_per_user = 2, start_timeout_s = 0, read_timeout_s = 120, seed = 0;
};

void add_tune_options(CLI::App& command, TuneArguments& arguments);

// kInvalid: names the option, what was found and what was expected. host: host_fingerprint(); program: of this process, for {teapot}.
Result<workbench::TuneSettings> tune_settings(const TuneArguments& arguments, const workbench::Catalogue& catalogue, Json host,
                                              const std::string& program);

// "KNOB=VALUE,KNOB=VALUE" (a part that names no knob belongs to the value before it), or a file: an object of knobs and values, or a
// result.json, whose profile it is. Values "null" and "nothing" leave the setting out.
Result<workbench::KnobProfile> parse_profile(const std::string& text, const workbench::Catalogue& catalogue);

// "200pairs", "6h", "90m", "45s"
Result<workbench::Budget> parse_budget(const std::string& text);

}  // namespace teapot::cli
