#include "text/unicode_tables.h"

#include "text/pretokenizer.h"
#include "text/tokenizer_testing.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

TEST(UnicodeTables, ContainsFindsTheEndsOfRanges) {
  EXPECT_TRUE(contains(white_space(), 0x9));
  EXPECT_TRUE(contains(white_space(), 0xD));
  EXPECT_FALSE(contains(white_space(), 0x8));
  EXPECT_FALSE(contains(white_space(), 0xE));
  EXPECT_TRUE(contains(white_space(), 0x3000));
  EXPECT_FALSE(contains(white_space(), 0x10FFFF));
}

// Every character of Unicode, through the regex that the tokenizer would use.
TEST(UnicodeTables, ClassesAreThoseOfTheReference) {
  const Json classes = read_json_file(testing::test_data("text/unicode_classes.json").string()).value();
  const std::pair<const char*, const char*> names[] = {{"L", "\\p{L}"}, {"M", "\\p{M}"}, {"N", "\\p{N}"}, {"space", "\\s"}};
  for (const auto& [name, pattern] : names) {
    std::vector<bool> expected(0x110000);
    for (const Json& range : classes.at(name)) {
      const auto last = std::stoul(range[1].get<std::string>(), nullptr, 16);
      for (auto code = std::stoul(range[0].get<std::string>(), nullptr, 16); code <= last; ++code) expected[code] = true;
    }
    const auto outside = Pretokenizer::compile(pattern).value();
    const auto inside = Pretokenizer::compile(std::string("[^") + pattern + "x]").value();
    std::string text;
    std::vector<bool> matches(0x110000);
    // Each character has an x on both sides: it is a piece of its own, and a match exactly if the next pattern, its complement,
    // does not find it.
    for (char32_t code = 0; code < 0x110000; ++code) {
      if (code >= 0xD800 && code < 0xE000) continue;
      text.clear();
      append_utf8(text, code);
      const std::string doubled = text + text;
      matches[code] = outside.split(doubled).value().size() == 2;
      ASSERT_EQ(inside.split(doubled).value().size() == 2, !matches[code] && code != 'x') << name << " " << static_cast<uint32_t>(code);
    }
    EXPECT_EQ(matches, expected) << name;
  }
}

}  // namespace
}  // namespace teapot::text
