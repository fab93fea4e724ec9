#include "server/request_log.h"

#include <gtest/gtest.h>

namespace teapot::server {
namespace {

TEST(RequestLog, AReplyIsOneLineOfKeysAndValues) {
  engine::ReplyRecord reply{
      .request = 7,
      .choice = 1,
      .timings = {.queue_ms = 1.5, .prefill_ms = 2, .decode_ms = 10, .prompt_tokens = 12, .cached_tokens = 8, .completion_tokens = 5},
      .error = {}};
  EXPECT_EQ(reply_line(reply),
            "request id=7 choice=1 prompt=12 cached=8 completion=5 queue_ms=1.500 ttft_ms=3.500 tpot_ms=2.500 finish=stop");
  reply.timings.completion_tokens = 0;
  EXPECT_NE(reply_line(reply).find(" ttft_ms=- tpot_ms=- "), std::string::npos) << reply_line(reply);
  reply.reason = engine::FinishReason::kError;
  reply.error = "a \"bad\"\nthing";
  EXPECT_TRUE(reply_line(reply).ends_with(R"( finish=error error="a \"bad\"\nthing")")) << reply_line(reply);
}

// A token may be a part of a character, and what users write does not break the line.
TEST(RequestLog, TheTextsOfADivergenceAreEscaped) {
  const engine::PromptRecord prompt{
      .request = 3, .tokens = 40, .cached = 16, .diverges = true, .index = 21, .cached_token = 5, .prompt_token = 6};
  EXPECT_EQ(divergence_line(prompt, "a\n", "\xe2\x82"),
            R"(prompt id=3 tokens=40 cached=16 diverges_at=21 cached_token=5 cached_text="a\n" prompt_token=6 prompt_text="\xe2\x82")");
}

}  // namespace
}  // namespace teapot::server
