#include "text/detokenizer.h"

#include "text/byte_level.h"
#include "text/tokenizer_testing.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

void expect_golden_pieces(const Tokenizer& tokenizer, const std::string& name, const std::filesystem::path& path) {
  for (const Json& line : read_json_lines(path)) {
    if (line.at("tokenizer") != name) continue;
    Detokenizer detokenizer(tokenizer, line.at("skip_special").get<bool>());
    std::vector<std::string> pieces;
    for (const int32_t id : line.at("ids").get<std::vector<int32_t>>()) pieces.push_back(detokenizer.push(id));
    EXPECT_EQ(pieces, line.at("pieces").get<std::vector<std::string>>()) << line.at("note") << line.at("ids").dump();
    EXPECT_EQ(detokenizer.flush(), line.at("flush").get<std::string>()) << line.at("note") << line.at("ids").dump();
  }
}

TEST(Detokenizer, GoldenSmall) { expect_golden_pieces(small_tokenizer(), "small", testing::test_data("text/detok.jsonl")); }

TEST(Detokenizer, GoldenQwen3) {
  const auto path = testing::shared_data("tokenizers/qwen3/tokenizer.json");
  TEAPOT_NEEDS(path);
  expect_golden_pieces(load_tokenizer_json(path.string()).value(), "qwen3", testing::shared_data("text/detok.jsonl"));
}

// Any bytes, a byte a token or in one token: the same text.
TEST(Detokenizer, PiecesDoNotMatter) {
  const std::string alphabet = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xED\xA0\xF4\x90\xFF";
  uint32_t state = 1;
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (int i = 0; i < 20; ++i) {
      state = state * 1664525 + 1013904223;
      bytes += alphabet[(state >> 16) % alphabet.size()];
    }
    TokenizerParts parts = byte_parts();
    parts.vocab.emplace_back(token_of_bytes(bytes), 256);
    const Tokenizer tokenizer = Tokenizer::build(parts).value();
    Detokenizer one(tokenizer, true);
    Detokenizer many(tokenizer, true);
    std::string whole = one.push(256);
    whole += one.flush();
    std::string pieces;
    for (const char byte : bytes) pieces += many.push(static_cast<uint8_t>(byte));
    pieces += many.flush();
    EXPECT_EQ(pieces, whole);
    EXPECT_EQ(find_ill_formed(pieces), std::string::npos);
  }
}

TEST(Detokenizer, FlushEmptiesWhatWasHeld) {
  const Tokenizer tokenizer = Tokenizer::build(byte_parts()).value();
  Detokenizer detokenizer(tokenizer, true);
  EXPECT_EQ(detokenizer.push(0xE2), "");
  EXPECT_EQ(detokenizer.push(0x82), "");
  EXPECT_EQ(detokenizer.flush(), "\uFFFD");
  EXPECT_EQ(detokenizer.push(0xED), "");
  EXPECT_EQ(detokenizer.push(0xA0), "") << "the first half of a surrogate";
  EXPECT_EQ(detokenizer.flush(), "\uFFFD\uFFFD");
  EXPECT_EQ(detokenizer.flush(), "");
}

TEST(Detokenizer, IdsWithoutATokenGiveNothing) {
  const Tokenizer tokenizer = small_tokenizer();
  Detokenizer detokenizer(tokenizer, false);
  for (const int32_t id : {-1, INT32_MIN, INT32_MAX, tokenizer.vocab_size()}) EXPECT_EQ(detokenizer.push(id), "");
  EXPECT_EQ(detokenizer.flush(), "");
}

}  // namespace
}  // namespace teapot::text
