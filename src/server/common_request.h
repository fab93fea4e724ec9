// The fields that chat and text completions share: sampling, stops, streaming.
#pragma once

#include <string>
#include <vector>

#include "engine/request.h"
#include "model/model.h"
#include "server/fields.h"

namespace teapot::server {

struct CommonRequest {
  engine::GenerateRequest generate;  // its prompt and logprobs are the caller's to fill
  std::vector<std::string> stop;
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;
  bool stream = false;
  bool include_usage = false;     // stream_options.include_usage
  bool continuous_usage = false;  // stream_options.continuous_usage_stats
  uint32_t choices = 1;           // n; each draws with the request's seed and its own index
};

// What the server is: the name that `model` must have, the defaults of the checkpoint, the limits of its ids and of n.
struct RequestDefaults {
  std::string served_name;
  const model::GenerationConfig& generation;
  uint32_t vocab_size;
  uint32_t max_seqs;
  uint32_t draft_limit;  // drafts a step; 0: no speculation
};

// vocab_size bounds the ids in logit_bias and stop_token_ids.
ApiResult<CommonRequest> parse_common(const Json& body, const RequestDefaults& defaults);

}  // namespace teapot::server
