#include "workbench/bench/server_facts.h"

#include <gtest/gtest.h>

#include "workbench/bench/raw_server_for_tests.h"

namespace teapot::workbench {
namespace {

std::string why(const std::string& reply) {
  const RawServer server(reply, "");
  const ServerFacts facts = ask_server(server.endpoint());
  EXPECT_FALSE(facts.unreachable) << *facts.unreachable;
  EXPECT_TRUE(facts.models.empty());
  return why_no_model(facts, "--model NAME");
}

TEST(ServerFacts, AKeyThatIsRefusedIsNotAMissingModel) {
  EXPECT_EQ(why("HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n"), "the server refuses the key (status 401); --api-key KEY");
  EXPECT_EQ(why("HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n"), "the server refuses the key (status 403); --api-key KEY");
  EXPECT_EQ(why("HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n"),
            "the server names no model at /v1/models (status 404); expected one, or --model NAME");
  EXPECT_EQ(why("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"data\": []}"),
            "the server names no model at /v1/models (its list has no models); expected one, or --model NAME");
}

}  // namespace
}  // namespace teapot::workbench
