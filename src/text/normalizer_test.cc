#include "text/normalizer.h"

#include <gtest/gtest.h>

namespace teapot::text {
namespace {

std::string nfc(std::string_view text) {
  std::string storage;
  return std::string(to_nfc(text, storage));
}

TEST(Normalizer, TextInNfcIsNotCopied) {
  std::string storage;
  for (const std::string_view text : {"", "plain", "naïve 語", "가"}) EXPECT_EQ(to_nfc(text, storage).data(), text.data());
}

TEST(Normalizer, Composes) {
  EXPECT_EQ(nfc("e\u0301"), "é");
  EXPECT_EQ(nfc("a\u0323\u0302"), "ậ");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(nfc("한\u11A8"), "한\u11A8") << "the syllable has its final consonant";
  EXPECT_EQ(nfc("\u110B\u116D\u11A7"), "요\u11A7") << "a vowel, not a final consonant";
  EXPECT_EQ(nfc("\u09C7\u09BE"), "\u09CB") << "a vowel sign of combining class 0";
  EXPECT_EQ(nfc("\u212B"), "\u00C5") << "a singleton";
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C") << "excluded from composition";
}

TEST(Normalizer, ReordersMarks) { EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307"); }

TEST(Normalizer, MarksNewerThanUnicode9StayWhereTheyAre) {
  EXPECT_EQ(nfc("a\u0345\u1DF9"), "a\u0345\u1DF9") << "U+1DF9, class 232, came with Unicode 10 to 15";
  EXPECT_EQ(nfc("a\u1DF9\u0301"), "a\u1DF9\u0301") << "and nothing composes across it";
  EXPECT_EQ(nfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

TEST(Normalizer, AMillionMarksTakeNoQuadraticTime) {
  std::string text = "a";
  std::string expected = "a";
  constexpr int kCount = 500'000;
  for (int i = 0; i < kCount; ++i) text += "\u0301\u0323";
  const std::string result = nfc(text);
  EXPECT_TRUE(result.starts_with("ạ\u0323")) << "the lower marks come first, and the first of them composes";
  EXPECT_TRUE(result.ends_with("\u0301\u0301"));
}

}  // namespace
}  // namespace teapot::text
