#include "text/added_tokens.h"

#include "text/tokenizer_testing.h"

namespace teapot::text {
namespace {

// Parts in one line: tokens as their id in brackets behind the text they took.
std::string split(const std::vector<AddedToken>& tokens, std::string_view text) {
  std::string line;
  const AddedTokenMatcher matcher(tokens);  // the parts point into it
  for (const auto& [part, token] : matcher.split(text)) {
    line += fmt::format("{}{}|", part, token ? fmt::format("[{}]", token->id) : "");
  }
  return line;
}

TEST(AddedTokens, LeftMostThenLongest) {
  const std::vector<AddedToken> tokens = {{.id = 1, .content = "<a>"}, {.id = 2, .content = "<a><b>"}, {.id = 3, .content = "b><"}};
  EXPECT_EQ(split(tokens, "x<a>y"), "x|<a>[1]|y|");
  EXPECT_EQ(split(tokens, "<a><b><"), "<a><b>[2]|<|");
  EXPECT_EQ(split(tokens, "<a><b"), "<a>[1]|<b|");
  EXPECT_EQ(split(tokens, "<b><a>"), "<|b><[3]|a>|");
  EXPECT_EQ(split(tokens, ""), "");
}

TEST(AddedTokens, StripTakesWhiteSpace) {
  const std::vector<AddedToken> left = {{.id = 1, .content = "<a>", .lstrip = true}};
  EXPECT_EQ(split(left, "x \u3000\n<a> y"), "x| \u3000\n<a>[1]| y|");
  EXPECT_EQ(split(left, " <a> <a>"), " <a>[1]| <a>[1]|");
  const std::vector<AddedToken> right = {{.id = 1, .content = "<a>", .rstrip = true}, {.id = 2, .content = "<b>", .lstrip = true}};
  EXPECT_EQ(split(right, "x <a> \u0085y"), "x |<a> \u0085[1]|y|");
  EXPECT_EQ(split(right, "<a>  <b>"), "<a>  [1]|<b>[2]|") << "the first token has taken the white space";
}

TEST(AddedTokens, SingleWord) {
  const std::vector<AddedToken> tokens = {{.id = 1, .content = "tea", .single_word = true}};
  EXPECT_EQ(split(tokens, "tea"), "tea[1]|");
  EXPECT_EQ(split(tokens, "(tea)"), "(|tea[1]|)|");
  for (const char* text : {"teapot", "atea", "tea_", "3tea", "étea", "tea\u0301", "tea\u200D", "teaⓐ"})
    EXPECT_EQ(split(tokens, text), std::string(text) + "|");
}

TEST(AddedTokens, NormalizedOnesAreFoundAfterNfc) {
  TokenizerParts parts = byte_parts();
  parts.added = {{.id = 300, .content = "ệ", .normalized = true}, {.id = 301, .content = "e\u0323\u0302!"}};
  const auto tokenizer = Tokenizer::build(parts).value();
  EXPECT_EQ(tokenizer.encode("e\u0323\u0302", true).value(), std::vector<int32_t>{300});
  EXPECT_EQ(tokenizer.encode("e\u0323\u0302!", true).value(), std::vector<int32_t>{301}) << "the others look at the raw text, and first";
  EXPECT_EQ(tokenizer.encode("ệ!", true).value(), (std::vector<int32_t>{300, '!'}));
  EXPECT_EQ(tokenizer.encode("ệ", false).value(), (std::vector<int32_t>{0xE1, 0xBB, 0x87}));
}

}  // namespace
}  // namespace teapot::text
