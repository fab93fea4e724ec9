#include "server/profile_request.h"

#include <gtest/gtest.h>

#include "server/fields.h"

namespace teapot::server {
namespace {

ApiResult<ProfileRequest> profile_of(const std::string& text) {
  const auto body = parse_body(text);
  if (!body) return std::unexpected(body.error());
  return parse_profile(*body);
}

std::string error_of(const std::string& text) {
  const auto request = profile_of(text);
  return request ? "none" : request.error().message;
}

TEST(ProfileRequest, HasStepsAndATime) {
  const auto request = profile_of(R"({"steps": 16, "timeout_s": 1.5})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->steps, 16u);
  EXPECT_EQ(request->timeout.count(), 1500);
  EXPECT_EQ(profile_of(R"({"steps": 1})")->timeout.count(), 30'000);
}

TEST(ProfileRequest, WhatIsWrongIsNamedWithWhatIsRight) {
  EXPECT_EQ(error_of("{}"), "'steps' is missing: how many to record, 1 to 1000");
  EXPECT_EQ(error_of(R"({"steps": 0})"), "'steps' must be between 1 and 1000, found 0");
  EXPECT_EQ(error_of(R"({"steps": 1001})"), "'steps' must be between 1 and 1000, found 1001");
  EXPECT_EQ(error_of(R"({"steps": 3, "timeout_s": 601})"), "'timeout_s' must be between 0.001 and 600, found 601");
  EXPECT_EQ(error_of(R"({"step": 3})"), "'step' is no field here; expected: steps, timeout_s");
  EXPECT_NE(error_of("[]").find("must be a JSON object"), std::string::npos);
}

}  // namespace
}  // namespace teapot::server
