// The body of POST /v1/profile: {"steps": N, "timeout_s": T}.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/json.h"
#include "server/api_error.h"

namespace teapot::server {

struct ProfileRequest {
  uint32_t steps = 0;                         // to record, 1 to engine::kMaxRecordedSteps
  std::chrono::milliseconds timeout{30'000};  // for them to happen; then those that did are told
};

// Unknown fields are errors.
ApiResult<ProfileRequest> parse_profile(const Json& body);

}  // namespace teapot::server
