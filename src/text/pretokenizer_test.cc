#include "text/pretokenizer.h"

#include "text/normalizer.h"
#include "text/tokenizer_testing.h"

namespace teapot::text {
namespace {

std::vector<std::string> pieces(const std::string& pattern, std::string_view text) {
  const auto pretokenizer = Pretokenizer::compile(pattern);
  EXPECT_TRUE(pretokenizer) << pretokenizer.error().message;
  const auto split = pretokenizer->split(text);
  EXPECT_TRUE(split) << split.error().message;
  return {split->begin(), split->end()};
}

TEST(Pretokenizer, GoldenPieces) {
  const auto path = testing::shared_data("text/pretokenizer.jsonl");
  TEAPOT_NEEDS(path);
  const auto qwen3 = Pretokenizer::compile(kQwen2Pattern).value();
  const auto qwen35 = Pretokenizer::compile(kQwen35Pattern).value();
  for (const Json& line : read_json_lines(path)) {
    const auto text = line.at("text").get<std::string>();
    std::string storage;
    const std::string_view nfc = to_nfc(text, storage);
    EXPECT_EQ(nfc, line.at("nfc").get<std::string>()) << line.at("note") << line.at("text").dump();
    const auto split3 = qwen3.split(nfc).value();
    EXPECT_EQ((std::vector<std::string>(split3.begin(), split3.end())), line.at("qwen3").get<std::vector<std::string>>())
        << line.at("note");
    const auto split35 = qwen35.split(nfc).value();
    EXPECT_EQ((std::vector<std::string>(split35.begin(), split35.end())), line.at("qwen35").get<std::vector<std::string>>())
        << line.at("note");
  }
}

TEST(Pretokenizer, TextBetweenMatchesIsAPieceToo) {
  EXPECT_EQ(pieces("b+", "aabbabé"), (std::vector<std::string>{"aa", "bb", "a", "b", "é"}));
  EXPECT_EQ(pieces("b*", "aéb"), (std::vector<std::string>{"a", "é", "b"})) << "an empty match cuts as well";
  EXPECT_EQ(pieces("x", ""), std::vector<std::string>());
}

TEST(Pretokenizer, LongRunsOfOneCharacter) {
  constexpr size_t kCount = 1 << 20;
  for (const std::string& unit : {std::string("a"), std::string(" "), std::string("\n"), std::string("語"), std::string("\u3000"),
                                  std::string("!"), std::string("\u0301"), std::string("😀")}) {
    std::string text;
    for (size_t i = 0; i < kCount; ++i) text += unit;
    EXPECT_EQ(pieces(std::string(kQwen35Pattern), text).size(), 1) << unit;
  }
}

TEST(Pretokenizer, ALongRunOfSpacesLeavesOneForTheWord) {
  const std::string text = std::string(1 << 20, ' ') + "tea";
  EXPECT_EQ(pieces(std::string(kQwen35Pattern), text), (std::vector<std::string>{text.substr(0, (1 << 20) - 1), " tea"}));
}

TEST(Pretokenizer, EndlessBacktrackingIsAnError) {
  const auto pretokenizer = Pretokenizer::compile("(?:a+)+(?=b)").value();
  const auto split = pretokenizer.split(std::string(64, 'a') + "c");
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().kind, ErrorKind::kInvalid);
}

TEST(Pretokenizer, NestedGroupsOverALongTextEitherMatchOrFail) {
  const auto pretokenizer = Pretokenizer::compile("(?:ab|cd)+").value();
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "abcd";
  const auto split = pretokenizer.split(text);
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(split->size(), 1);
}

}  // namespace
}  // namespace teapot::text
