#include "engine/reply_text.h"

#include <gtest/gtest.h>

#include "test_data.h"
#include "text/tokenizer_directory.h"

namespace teapot::engine {
namespace {

// A model with the small tokenizer and no template.
TextAssets small_assets() {
  auto tokenizer = text::load_tokenizer_directory(testing::test_data("text/small_tokenizer").string());
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return {.tokenizer = *std::move(tokenizer), .chat_template = std::nullopt, .facts = {}};
}

class ReplyTextTest : public ::testing::Test {
 protected:
  // Pushes the text's tokens until a stop string is found, then finishes.
  text::ParsedOutput read(ReplyTextOptions options, const std::string& reply, FinishReason reason = FinishReason::kStop) {
    auto created = ReplyText::create(assets_, std::move(options));
    EXPECT_TRUE(created) << created.error().message;
    text_ = *std::move(created);
    text::ParsedOutput output;
    const std::vector<int32_t> ids = assets_.tokenizer.encode(reply, true).value();
    for (const int32_t id : ids) {
      if (text_->stopped()) break;
      output.add(text_->push({.id = id}));
    }
    output.add(text_->finish(reason));
    return output;
  }

  TextAssets assets_ = small_assets();
  std::optional<ReplyText> text_;
};

TEST_F(ReplyTextTest, CompletionsAreContentVerbatim) {
  const std::string reply = "<think>\nno\n</think> Grüße, 你好 🙂 <tool_call>";
  EXPECT_EQ(read({.parse_output = false}, reply).content, reply);
}

TEST_F(ReplyTextTest, SplitsReasoningAndCountsIt) {
  const text::ParsedOutput output = read({.starts_in_reasoning = true}, "a thought\n</think>\n\nan answer");
  EXPECT_EQ(output.reasoning, "a thought");
  EXPECT_EQ(output.content, "an answer");
  EXPECT_EQ(text_->tokens(), assets_.tokenizer.encode("a thought\n</think>\n\nan answer", true)->size());
  EXPECT_EQ(text_->reasoning_tokens(), assets_.tokenizer.encode("a thought\n</think>", true)->size());
}

TEST_F(ReplyTextTest, ParsesCalls) {
  const text::ParsedOutput output = read({.tool_format = text::ToolFormat::kHermes},
                                         "Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>");
  EXPECT_EQ(output.content, "Let me see.");
  ASSERT_EQ(output.tool_calls.size(), 1u);
  EXPECT_EQ(output.tool_calls[0].name, "add");
}

TEST_F(ReplyTextTest, StopsAtAStopString) {
  const text::ParsedOutput output = read({.stop = {"END", "other"}, .parse_output = false}, "one two END three");
  EXPECT_EQ(output.content, "one two ");
  EXPECT_TRUE(text_->stopped());
  EXPECT_EQ(text_->matched_stop(), "END");
  EXPECT_EQ(read({.stop = {"END"}, .include_stop_str_in_output = true, .parse_output = false}, "one two END three").content, "one two END");
}

TEST_F(ReplyTextTest, GivesBackWhatLookedLikeAStopString) {
  EXPECT_EQ(read({.stop = {"ENDING"}, .parse_output = false}, "one END", FinishReason::kLength).content, "one END");
  EXPECT_TRUE(text_->matched_stop().empty());
}

TEST_F(ReplyTextTest, AStopTokenCountsAndIsNoText) {
  auto text = ReplyText::create(assets_, {.skip_special_tokens = false, .parse_output = false});
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->push({.id = assets_.tokenizer.token_id("<|im_end|>").value(), .is_stop = true}).empty());
  EXPECT_TRUE(text->finish(FinishReason::kStop).empty());
  EXPECT_EQ(text->tokens(), 1u);
}

TEST_F(ReplyTextTest, RefusesAnEmptyStopString) {
  const auto text = ReplyText::create(assets_, {.stop = {""}});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kInvalid);
}

TEST(TextAssets, DemoHasEverything) {
  TEAPOT_NEEDS(testing::demo_model());
  const auto assets = TextAssets::load(testing::demo_model().string());
  ASSERT_TRUE(assets) << assets.error().message;
  EXPECT_TRUE(assets->chat_template);
  EXPECT_EQ(assets->facts.tool_format, text::ToolFormat::kQwen3Coder);
  const std::vector<int32_t> unsampled = assets->ids_without_token(4096);
  EXPECT_EQ(unsampled.size(), 24u);
  EXPECT_EQ(unsampled.front(), 4072);
}

TEST(TextAssets, AModelWithoutATokenizerIsNotFound) {
  const auto path = testing::test_data("goldens/moe_v36");
  const auto assets = TextAssets::load(path.string());
  ASSERT_FALSE(assets);
  EXPECT_EQ(assets.error().kind, ErrorKind::kNotFound) << assets.error().message;
}

// A GGUF file's tokenizer is that of the directory it was made from: text and template come out of the metadata.
TEST(TextAssets, ReadsTheMetadataOfAGgufFile) {
  const auto path = testing::test_data("bad/gg_ok.gguf");
  TEAPOT_NEEDS(path);
  const auto assets = TextAssets::load(path.string());
  ASSERT_TRUE(assets) << assets.error().message;
  const auto ids = assets->tokenizer.encode("Hello, world", true);
  ASSERT_TRUE(ids);
  std::string text;
  for (const int32_t id : *ids) text += assets->tokenizer.bytes(id);
  EXPECT_EQ(text, "Hello, world");
}

}  // namespace
}  // namespace teapot::engine
