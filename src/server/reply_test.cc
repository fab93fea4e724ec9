// Replies of several choices, whole and as streams.
#include <functional>
#include <map>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "base/json.h"
#include "server/chat_reply.h"
#include "server/completion_reply.h"
#include "test_data.h"
#include "text/tokenizer_json.h"

namespace teapot::server {
namespace {

ReplyStep token(uint32_t choice, const std::string& text) {
  ReplyStep step{.choice = choice};
  step.token = engine::TokenEvent{.id = 1};
  step.deltas = {text::ContentDelta{text}};
  return step;
}

ReplyStep finish(uint32_t choice, engine::FinishReason reason, uint32_t completion_tokens) {
  ReplyStep step{.choice = choice};
  step.finish = engine::Finish{reason, {.prompt_tokens = 10, .cached_tokens = 6, .completion_tokens = completion_tokens}, {}};
  step.reasoning_tokens = 1;
  return step;
}

// Two choices, interleaved; the second one ends first.
std::vector<ReplyStep> steps() {
  return {token(0, "a"), token(1, "x"),
          token(0, "b"), finish(1, engine::FinishReason::kLength, 1),
          token(0, "c"), finish(0, engine::FinishReason::kStop, 3)};
}

const Json kUsage = {{"prompt_tokens", 10},
                     {"completion_tokens", 4},
                     {"total_tokens", 14},
                     {"prompt_tokens_details", {{"cached_tokens", 6}}},
                     {"completion_tokens_details", {{"reasoning_tokens", 2}}}};

std::vector<Json> parse_events(const std::string& events) {
  std::vector<Json> parsed;
  for (size_t start = 0; start < events.size();) {
    const size_t end = events.find("\n\n", start);
    EXPECT_EQ(events.substr(start, 6), "data: ");
    parsed.push_back(*parse_json(events.substr(start + 6, end - start - 6), "event"));
    start = end + 2;
  }
  return parsed;
}

class ReplyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto tokenizer = text::load_tokenizer_json(teapot::testing::test_data("text/small_tokenizer/tokenizer.json").string());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    tokenizer_.emplace(*std::move(tokenizer));
  }

  static Json whole(ReplyFormat& format) {
    for (ReplyStep& step : steps()) format.add(std::move(step));
    return format.whole();
  }

  static std::vector<Json> stream(ReplyFormat& format) {
    std::string out;
    for (ReplyStep& step : steps()) out += format.events(std::move(step));
    return parse_events(out + format.last_events());
  }

  // What a client puts together: text and finish reason by choice; the last event is the usage.
  static void expect_choices(const std::vector<Json>& events, const std::function<std::string(const Json& choice)>& text) {
    std::map<int, std::string> texts, reasons;
    for (const Json& event : std::span(events).first(events.size() - 1)) {
      ASSERT_EQ(event["choices"].size(), 1u);
      const Json& choice = event["choices"][0];
      const int index = choice["index"];
      EXPECT_FALSE(reasons.contains(index)) << "nothing comes after the end";
      texts[index] += text(choice);
      if (!choice["finish_reason"].is_null()) {
        reasons[index] = choice["finish_reason"];
        EXPECT_TRUE(event.contains("timings"));
      }
    }
    EXPECT_EQ(texts, (std::map<int, std::string>{{0, "abc"}, {1, "x"}}));
    EXPECT_EQ(reasons, (std::map<int, std::string>{{0, "stop"}, {1, "length"}}));
    EXPECT_EQ(events.back()["choices"], Json::array());
    EXPECT_EQ(events.back()["usage"], kUsage);
  }

  std::optional<text::Tokenizer> tokenizer_;
};

TEST_F(ReplyTest, AWholeChatHasItsChoicesInOrderAndThePromptOnce) {
  ChatReply reply(*tokenizer_, "demo", 2, false, {});
  const Json json = whole(reply);
  ASSERT_EQ(json["choices"].size(), 2u);
  EXPECT_EQ(json["choices"][0]["index"], 0);
  EXPECT_EQ(json["choices"][0]["message"]["content"], "abc");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(json["choices"][1]["index"], 1);
  EXPECT_EQ(json["choices"][1]["message"]["content"], "x");
  EXPECT_EQ(json["choices"][1]["finish_reason"], "length");
  EXPECT_EQ(json["usage"], kUsage);
}

TEST_F(ReplyTest, AChatStreamInterleavesItsChoices) {
  ChatReply reply(*tokenizer_, "demo", 2, false, {.at_end = true});
  const std::vector<Json> events = stream(reply);
  expect_choices(events, [](const Json& choice) { return choice["delta"].value("content", ""); });
  std::vector<int> roles;
  for (const Json& event : events) {
    if (!event["choices"].empty() && event["choices"][0]["delta"].contains("role")) roles.push_back(event["choices"][0]["index"]);
  }
  EXPECT_EQ(roles, (std::vector{0, 1}));
}

TEST_F(ReplyTest, ACompletionEchoesThePromptInEveryChoice) {
  CompletionReply reply(*tokenizer_, "demo", 2, false, {}, "p:", 1);
  const Json json = whole(reply);
  ASSERT_EQ(json["choices"].size(), 2u);
  EXPECT_EQ(json["choices"][0]["text"], "p:abc");
  EXPECT_EQ(json["choices"][1]["text"], "p:x");
  EXPECT_EQ(json["choices"][1]["finish_reason"], "length");
  EXPECT_EQ(json["usage"], kUsage);
}

TEST_F(ReplyTest, ACompletionStreamInterleavesItsChoices) {
  CompletionReply reply(*tokenizer_, "demo", 2, false, {.at_end = true}, "", 1);
  expect_choices(stream(reply), [](const Json& choice) { return choice["text"].get<std::string>(); });
}

TEST_F(ReplyTest, TheRateOfThePrefillCountsWhatWasComputed) {
  EXPECT_DOUBLE_EQ(timings_json({.prefill_ms = 8, .prompt_tokens = 10, .cached_tokens = 6})["prefill_tokens_per_second"], 500);
}

// Each event tells how many tokens there are so far, those of all choices.
TEST_F(ReplyTest, UsageInEachEventGrowsWithItsTokens) {
  const StreamUsage usage{.at_end = true, .in_each = true, .prompt_tokens = 10};
  ChatReply chat(*tokenizer_, "demo", 2, false, usage);
  CompletionReply completion(*tokenizer_, "demo", 2, false, usage, "", 1);
  for (ReplyFormat* format : {static_cast<ReplyFormat*>(&chat), static_cast<ReplyFormat*>(&completion)}) {
    const std::vector<Json> events = stream(*format);
    std::vector<int> tokens;  // by the events with text
    for (const Json& event : events) {
      ASSERT_TRUE(event.contains("usage"));
      EXPECT_EQ(event["usage"]["prompt_tokens"], 10);
      EXPECT_EQ(event["usage"]["total_tokens"], 10 + event["usage"]["completion_tokens"].get<int>());
      if (event["choices"].empty()) continue;
      const Json& choice = event["choices"][0];
      const std::string text = choice.contains("text") ? choice["text"] : choice["delta"].value("content", Json(""));
      if (!text.empty()) tokens.push_back(event["usage"]["completion_tokens"]);
    }
    EXPECT_EQ(tokens, (std::vector{1, 2, 3, 4}));
    EXPECT_EQ(events.back()["usage"], kUsage);
  }
}

}  // namespace
}  // namespace teapot::server
