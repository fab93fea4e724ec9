// Servers that keep the connection busy and bring no token.
#include <gtest/gtest.h>

#include "workbench/bench/load.h"
#include "workbench/bench/raw_server_for_tests.h"

namespace teapot::workbench {
namespace {

constexpr std::chrono::milliseconds kPatience{200};

const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const std::string kText = "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]}\n\n";
const std::string kFinish = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n";

RequestRecord ask(const RawServer& server, bool stream = true) {
  const std::vector<LoadRequest> one = {{.body = "{}", .stream = stream}};
  LoadOptions options;
  options.token_timeout = kPatience;
  const auto result = run_load(server.endpoint(), one, options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->records.at(0) : RequestRecord{};
}

TEST(LoadStall, BytesThatBringNoTokenDoNotCount) {
  struct Case {
    std::string first, again, message;
    bool stream = true;
  };
  const std::vector<Case> cases = {
      {kHead, ": ping\n\n", "no token came for "},
      {kHead + kText, ": ping\n\n", "no token came for "},
      {kHead + kText, "data: {\"choices\": [{\"delta\": {\"content\": \"\"}}]}\n\n", "no token came for "},
      {kHead + kText + "data: {", " ", "no token came for "},
      {"HTTP/1.1 200 OK\r\nX: ", "x", "no whole head of a reply came for "},
      {"", "HTTP/1.1 100 Continue\r\n\r\n", "no whole head of a reply came for "},
      {kHead + kText + kFinish, ": ping\n\n", "the reply's end did not come for "},
      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{", " ", "no whole reply came for ", false},
  };
  for (const auto& [first, again, message, stream] : cases) {
    const RawServer server(first, again);
    const RequestRecord record = ask(server, stream);
    EXPECT_EQ(record.outcome, Outcome::kStalled) << first << again << record.error;
    EXPECT_TRUE(record.error.starts_with(message)) << record.error;
    EXPECT_GE(record.end_ns - record.start_ns, std::chrono::nanoseconds(kPatience).count());
    EXPECT_LT(record.end_ns - record.start_ns, 10 * std::chrono::nanoseconds(kPatience).count());
  }
}

TEST(LoadStall, TokensThatComeInTimeMayTakeLongInAll) {
  std::string slow = kHead;
  for (int i = 0; i < 3; ++i) slow += kText;
  const RawServer server(slow, kText);
  std::atomic<bool> stop = false;
  const std::vector<LoadRequest> one = {{.body = "{}"}};
  LoadOptions options;
  options.token_timeout = 3 * kPatience;
  LoadEvents events;
  events.stop = &stop;
  events.progress = [&stop](uint32_t chunks, double) { stop = chunks > 40; };  // 20 ms each
  const auto result = run_load(server.endpoint(), one, options, events);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->records.at(0).outcome, Outcome::kCancelled) << result->records.at(0).error;
}

TEST(LoadStall, AnEndThatCameIsNotWaitedForAgain) {
  const RawServer server(kHead + kText + kFinish + "data: [DONE]\n\n", ": ping\n\n");
  const RequestRecord record = ask(server);
  EXPECT_EQ(record.outcome, Outcome::kOk) << record.error;
}

}  // namespace
}  // namespace teapot::workbench
