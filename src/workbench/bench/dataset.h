// Prompts for a benchmark, under evalscope's names of the datasets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "engine/text_assets.h"
#include "workbench/bench/load.h"

namespace teapot::workbench {

struct DatasetOptions {
  std::string dataset = "random";   // random | openqa | line_by_line | gsm8k | custom
  std::optional<std::string> path;  // --dataset-path; all but random need it
  uint32_t min_prompt_length = 0;   // tokens as the server counts them, template included
  uint32_t max_prompt_length = 131072;
  uint32_t prefix_length = 0;  // tokens of a beginning that all random prompts share, besides the lengths above
  uint64_t seed = 0;
};

struct Prompt {
  Json messages;        // chat endpoints: [{role, content}]
  std::string text;     // completion endpoints
  uint32_t tokens = 0;  // with the template, where a tokenizer counted them; 0: not counted
  std::string answer;   // of datasets that have one: gsm8k's whole solution
  Json body;            // line_by_line: a whole request as an object, whose fields go before those of BodyOptions; else null
};

// How a prompt becomes a request's body.
struct BodyOptions {
  std::string model;
  bool chat = true;
  bool stream = true;
  uint32_t min_tokens = 0, max_tokens = 0;  // equal: the reply is of exactly so many tokens (ignore_eos); 0: not sent
  std::optional<double> temperature, top_p;
  std::optional<uint64_t> seed;
  Json extra_args = Json::object();  // merged into the body last
};

// What is wrong before any prompt is made: a name that is not known, a file that is not there, lengths without a tokenizer.
Status check_dataset(const DatasetOptions& options, bool has_tokenizer);

// count different prompts; `first` numbers them on, so that two calls of one seed share none. text: tokenizer and template of the model
// under test, needed by `random` and wherever lengths are asked for. kInvalid where a length can't be met, kNotFound without the file.
Result<std::vector<Prompt>> make_prompts(const DatasetOptions& options, const engine::TextAssets* text, const BodyOptions& body,
                                         uint32_t count, uint32_t first);

// The request, and what its usage must show (exact lengths only where check_lengths).
LoadRequest make_request(const Prompt& prompt, const BodyOptions& options, bool check_lengths);

}  // namespace teapot::workbench
