// POST /v1/completions: from the JSON body to a prompt of text or ids.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "server/common_request.h"

namespace teapot::server {

struct CompletionRequest {
  CommonRequest common;
  std::variant<std::string, std::vector<int32_t>> prompt;
  bool echo = false;
};

ApiResult<CompletionRequest> parse_completion(const Json& body, const RequestDefaults& defaults);

// A JSON list of token ids below vocab_size.
ApiResult<std::vector<int32_t>> parse_ids(const Json& list, const char* name, uint32_t vocab_size);

}  // namespace teapot::server
