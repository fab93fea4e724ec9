#include "workbench/bench/endpoint.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

TEST(Endpoint, AUrlThatEndsEarlyMeansChat) {
  for (const char* url :
       {"http://host:81", "http://host:81/", "http://host:81/v1", "http://host:81/v1/", "http://host:81/v1/chat/completions"}) {
    const auto endpoint = parse_endpoint(url, "key");
    ASSERT_TRUE(endpoint) << endpoint.error().message;
    EXPECT_EQ(endpoint->url(), "http://host:81/v1/chat/completions");
    EXPECT_EQ(endpoint->api_key, "key");
    EXPECT_TRUE(endpoint->chat());
  }
}

TEST(Endpoint, KeepsWhatTheUrlSays) {
  const auto completions = parse_endpoint("http://10.0.0.1/v1/completions");
  ASSERT_TRUE(completions);
  EXPECT_EQ(completions->url(), "http://10.0.0.1:80/v1/completions");
  EXPECT_FALSE(completions->chat());
  const auto gateway = parse_endpoint("http://gateway:8000/team/v1");
  ASSERT_TRUE(gateway);
  EXPECT_EQ(gateway->target, "/team/v1/chat/completions");
  const auto ipv6 = parse_endpoint("http://[::1]:8080/v1");
  ASSERT_TRUE(ipv6);
  EXPECT_EQ(ipv6->host, "::1");
  EXPECT_EQ(ipv6->url(), "http://[::1]:8080/v1/chat/completions");
  EXPECT_EQ(ipv6->with_target("/v1/models").url(), "http://[::1]:8080/v1/models");
}

TEST(Endpoint, WhatIsNoUrlIsAnError) {
  for (const char* url :
       {"", "host:80", "ftp://host", "http://", "http://:80", "http://host:", "http://host:0", "http://host:65536", "http://host:8x",
        "http://[::1", "http://[::1]x", "http://ho st", "http://host/a b", "http://host/v1?x=1", "http://host/\r\nX: y"}) {
    const auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().kind, ErrorKind::kInvalid);
  }
  const auto secure = parse_endpoint("https://host/v1");
  ASSERT_FALSE(secure);
  EXPECT_EQ(secure.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace teapot::workbench
