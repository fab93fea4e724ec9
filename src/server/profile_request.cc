#include "server/profile_request.h"

#include "engine/engine.h"
#include "server/fields.h"

namespace teapot::server {
namespace {

constexpr double kMaxTimeoutS = 600, kMinTimeoutS = 0.001;

}  // namespace

ApiResult<ProfileRequest> parse_profile(const Json& body) {
  const Fields fields(body);
  TEAPOT_CHECK(fields.only({"steps", "timeout_s"}));
  TEAPOT_TRY(const auto steps, fields.integer("steps", 1, engine::kMaxRecordedSteps));
  if (!steps) return bad_field("steps", fmt::format("'steps' is missing: how many to record, 1 to {}", engine::kMaxRecordedSteps));
  TEAPOT_TRY(const auto timeout_s, fields.number("timeout_s", kMinTimeoutS, kMaxTimeoutS));
  ProfileRequest request;
  request.steps = static_cast<uint32_t>(*steps);
  if (timeout_s) request.timeout = std::chrono::milliseconds(static_cast<int64_t>(*timeout_s * 1000));
  return request;
}

}  // namespace teapot::server
