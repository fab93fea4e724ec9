#include "text/utf8.h"

#include <gtest/gtest.h>

namespace teapot::text {
namespace {

using Kind = Utf8Step::Kind;

TEST(Utf8, EveryCharacterComesBack) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const Utf8Step step = next_utf8(text);
    ASSERT_EQ(step.kind, Kind::kCharacter);
    ASSERT_EQ(step.code, code);
    ASSERT_EQ(step.length, text.size());
    ASSERT_EQ(last_utf8("é" + text), code);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const Utf8Step part = next_utf8(std::string_view(text).substr(0, cut));
      ASSERT_EQ(part.kind, Kind::kIncomplete);
      ASSERT_EQ(part.length, cut);
    }
  }
}

TEST(Utf8, MaximalIllFormedParts) {
  const std::pair<std::string_view, int> cases[] = {{"\x80", 1},
                                                    {"\xC0\x80", 1},
                                                    {"\xC1\xBF", 1},
                                                    {"\xE0\x80\x80", 1},
                                                    {"\xED\xA0\x80", 1},
                                                    {"\xF0\x80\x80\x80", 1},
                                                    {"\xF4\x90\x80\x80", 1},
                                                    {"\xF5", 1},
                                                    {"\xE2\x82x", 2},
                                                    {"\xF0\x9F\x98x", 3},
                                                    {"\xC3x", 1},
                                                    {"\xFF", 1}};
  for (const auto& [bytes, length] : cases) {
    const Utf8Step step = next_utf8(bytes);
    EXPECT_EQ(step.kind, Kind::kIllFormed);
    EXPECT_EQ(step.length, length);
  }
}

TEST(Utf8, FindsTheFirstIllFormedByte) {
  EXPECT_EQ(find_ill_formed(""), std::string::npos);
  EXPECT_EQ(find_ill_formed("plain text, longer than a word, é and 😀"), std::string::npos);
  EXPECT_EQ(find_ill_formed("0123456789\xFF"), 10);
  EXPECT_EQ(find_ill_formed("é\xE2\x82"), 2);
}

}  // namespace
}  // namespace teapot::text
