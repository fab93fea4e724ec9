#include "text/tokenizer_json.h"

#include <functional>
#include <thread>

#include "text/tokenizer_testing.h"
#include "text/vocab_json.h"

namespace teapot::text {
namespace {

// The small tokenizer's file with one thing changed.
Result<Tokenizer> load_changed(const std::function<void(Json&)>& change) {
  static const Json original = [] {
    Json json = read_json_file(small_tokenizer_path("tokenizer_string_merges.json")).value();
    Json vocab = Json::object();  // bytes alone are enough here, and quick
    for (const auto& [token, id] : byte_parts().vocab) vocab[token] = id;
    vocab["th"] = 256;
    json["model"]["vocab"] = vocab;
    json["model"]["merges"] = {"t h"};
    return json;
  }();
  Json json = original;
  change(json);
  TEAPOT_TRY(const TokenizerParts parts, parse_tokenizer_json(json.dump(), "tokenizer.json"));
  return Tokenizer::build(parts);
}

void expect_error(ErrorKind kind, std::string_view message, const std::function<void(Json&)>& change) {
  const auto result = load_changed(change);
  ASSERT_FALSE(result) << message;
  EXPECT_EQ(result.error().kind, kind) << result.error().message;
  EXPECT_TRUE(result.error().message.starts_with("tokenizer.json: ")) << result.error().message;
  EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
}

TEST(TokenizerJson, WhatTheOthersChangeIsRight) {
  const auto tokenizer = load_changed([](Json&) {});
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("the", true).value(), (std::vector<int32_t>{256, 'e'}));
}

TEST(TokenizerJson, KnowsItsTokens) {
  const Tokenizer tokenizer = small_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 1024);
  EXPECT_EQ(tokenizer.added_tokens().size(), 9);
  EXPECT_EQ(tokenizer.token_id("<|im_end|>"), 1017);
  EXPECT_TRUE(tokenizer.is_special(1017));
  EXPECT_EQ(tokenizer.token_id("</think>"), 1023);
  EXPECT_FALSE(tokenizer.is_special(1023));
  EXPECT_EQ(tokenizer.bytes(1023), "</think>");
  EXPECT_EQ(tokenizer.bytes(tokenizer.token_id(" ").value()), " ");
  EXPECT_EQ(tokenizer.token_id("<no such token>"), std::nullopt);
  EXPECT_FALSE(tokenizer.has_token(1024));
  EXPECT_FALSE(tokenizer.has_token(-1));
  EXPECT_EQ(tokenizer.eos_id(), std::nullopt);
}

TEST(TokenizerJson, TextMustBeUtf8) {
  const auto ids = small_tokenizer().encode("abc\xFF", true);
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(ids.error().message, "text: not UTF-8 at byte 3 (0xFF)");
}

TEST(TokenizerJson, OneTokenizerServesManyThreads) {
  const Tokenizer tokenizer = small_tokenizer();
  const std::string text = "Hello, world! <think>e\u0301 \u8a9e</think>" + std::string(100, 'x');
  const std::vector<int32_t> expected = tokenizer.encode(text, true).value();
  std::vector<int> equal(4);
  {
    std::vector<std::jthread> threads;
    for (int& count : equal) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) count += tokenizer.encode(text, true) == expected;
      });
    }
  }
  EXPECT_EQ(equal, std::vector<int>(4, 200));
}

TEST(TokenizerJson, GapsHaveNoToken) {
  const auto tokenizer = load_changed([](Json& json) { json["model"]["vocab"]["gap"] = 1500; });
  EXPECT_EQ(tokenizer->vocab_size(), 1501);
  EXPECT_TRUE(tokenizer->has_token(1500));
  EXPECT_FALSE(tokenizer->has_token(1499));
  EXPECT_EQ(tokenizer->bytes(1499), "");
}

TEST(TokenizerJson, ALoneByteLevelHasTheRegexOfGpt2) {
  const auto tokenizer = load_changed([](Json& json) { json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}}; });
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
}

TEST(TokenizerJson, OtherKindsAreNamed) {
  const auto refused = [](std::string_view message, const std::function<void(Json&)>& change) {
    expect_error(ErrorKind::kUnsupported, message, change);
  };
  refused("model.type: \"Unigram\"", [](Json& json) { json["model"]["type"] = "Unigram"; });
  refused("model.dropout: 0.1", [](Json& json) { json["model"]["dropout"] = 0.1; });
  refused("model.byte_fallback: true", [](Json& json) { json["model"]["byte_fallback"] = true; });
  refused("model.ignore_merges: true", [](Json& json) { json["model"]["ignore_merges"] = true; });
  refused("model.end_of_word_suffix: \"</w>\"", [](Json& json) { json["model"]["end_of_word_suffix"] = "</w>"; });
  refused("normalizer.type: \"NFKC\"", [](Json& json) { json["normalizer"]["type"] = "NFKC"; });
  refused("normalizer.normalizers[].type: \"Lowercase\"",
          [](Json& json) { json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}}; });
  refused("pre_tokenizer.type: \"Metaspace\"", [](Json& json) { json["pre_tokenizer"]["type"] = "Metaspace"; });
  refused("pretokenizers[0].behavior: \"Removed\"", [](Json& json) { json["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; });
  refused("pretokenizers[0].invert: true", [](Json& json) { json["pre_tokenizer"]["pretokenizers"][0]["invert"] = true; });
  refused("pretokenizers[0].pattern", [](Json& json) { json["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", "x"}}; });
  refused("pretokenizers[1].add_prefix_space: true",
          [](Json& json) { json["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; });
  refused("pretokenizers[1].use_regex: true", [](Json& json) { json["pre_tokenizer"]["pretokenizers"][1]["use_regex"] = true; });
  refused("decoder.type: \"WordPiece\"", [](Json& json) { json["decoder"]["type"] = "WordPiece"; });
  refused("post_processor.type: \"TemplateProcessing\"", [](Json& json) { json["post_processor"]["type"] = "TemplateProcessing"; });
  refused("regex, at byte 1", [](Json& json) { json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\w+"; });
}

TEST(TokenizerJson, BrokenFieldsAreNamed) {
  const auto broken = [](std::string_view message, const std::function<void(Json&)>& change) {
    expect_error(ErrorKind::kInvalid, message, change);
  };
  broken("token 'th' has the id -1", [](Json& json) { json["model"]["vocab"]["th"] = -1; });
  broken("has the id 18446744073709551615", [](Json& json) { json["model"]["vocab"]["th"] = UINT64_MAX; });
  broken("token 'th' has the id 1099511627776", [](Json& json) { json["model"]["vocab"]["th"] = 1LL << 40; });
  broken("token 'th': expected an integer id, found string", [](Json& json) { json["model"]["vocab"]["th"] = "x"; });
  broken("expected an integer id, found object", [](Json& json) { json["model"]["vocab"]["th"] = Json::object(); });
  broken("'h' and 'th' have the same id 104", [](Json& json) { json["model"]["vocab"]["th"] = 'h'; });
  broken("no token 'h' for byte 0x68", [](Json& json) { json["model"]["vocab"].erase("h"); });
  broken("has no text", [](Json& json) { json["model"]["vocab"][""] = 300; });
  broken("merge 0 ('t' 'e'): 'te' is not in the vocabulary", [](Json& json) { json["model"]["merges"][0] = "t e"; });
  broken("merge 0: expected two texts with a space between them, found 'th'", [](Json& json) { json["model"]["merges"][0] = "th"; });
  broken("merge 0: expected two texts", [](Json& json) { json["model"]["merges"][0] = {"t"}; });
  broken("merge 0: expected two texts", [](Json& json) { json["model"]["merges"][0] = {"t", "h", "e"}; });
  broken("merge 0: expected text, found number", [](Json& json) { json["model"]["merges"][0] = 7; });
  broken("model.vocab: expected", [](Json& json) { json["model"].erase("vocab"); });
  broken("model.merges: expected", [](Json& json) { json["model"].erase("merges"); });
  broken("model: expected an object, found null", [](Json& json) { json.erase("model"); });
  broken("decoder: expected an object, found null", [](Json& json) { json.erase("decoder"); });
  broken("added_tokens: expected an array", [](Json& json) { json["added_tokens"] = 1; });
  broken("added_tokens[0].content", [](Json& json) { json["added_tokens"][0].erase("content"); });
  broken("added_tokens[0].special: expected a boolean", [](Json& json) { json["added_tokens"][0]["special"] = 1; });
  broken("added_tokens[0].id: expected an integer", [](Json& json) { json["added_tokens"][0]["id"] = "1"; });
  broken("added_tokens[0].id: 18446744073709551615", [](Json& json) { json["added_tokens"][0]["id"] = UINT64_MAX; });
  broken("<|endoftext|>' has the id -5", [](Json& json) { json["added_tokens"][0]["id"] = -5; });
  broken("has the id 104, which is that of 'h'", [](Json& json) { json["added_tokens"][0]["id"] = 104; });
  broken("has the id 1016, which is that of another added token", [](Json& json) { json["added_tokens"][2]["id"] = 1016; });
  broken("added token 'h' has the id 1015, but 104 in the vocabulary", [](Json& json) { json["added_tokens"][0]["content"] = "h"; });
  broken("has 0 bytes", [](Json& json) { json["added_tokens"][0]["content"] = ""; });
  broken("has 600 bytes", [](Json& json) { json["added_tokens"][0]["content"] = std::string(600, 'x'); });
  broken("stands there twice", [](Json& json) { json["added_tokens"][1]["content"] = "<|endoftext|>"; });
}

TEST(TokenizerJson, BrokenTextIsAnError) {
  const std::string deep(1000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("nul"), deep, std::string(R"({"a":1,"a":2})"),
        std::string(R"({"model":{"vocab":{},"vocab":{}}})"), std::string(R"({"model":{"vocab":{"a":1,"a")"),
        std::string(R"({"model":{"merges":[["a","b"],[)"), std::string("\xFF"), std::string("{\"\xFF\":1}")}) {
    const auto parts = parse_tokenizer_json(text, "tokenizer.json");
    ASSERT_FALSE(parts) << text;
    EXPECT_EQ(parts.error().kind, ErrorKind::kInvalid) << text;
  }
}

TEST(TokenizerJson, VocabJsonIsOneObject) {
  EXPECT_EQ(parse_vocab_json_text(R"({"a":1,"b":0})", "vocab.json")->vocab,
            (std::vector<std::pair<std::string, int64_t>>{{"a", 1}, {"b", 0}}));
  for (const char* text : {"[]", "1", R"({"a":{}})", R"({"a":[1]})", R"({"a":1.5})", "{", ""})
    EXPECT_FALSE(parse_vocab_json_text(text, "vocab.json")) << text;
}

}  // namespace
}  // namespace teapot::text
