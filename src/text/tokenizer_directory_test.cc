#include "text/tokenizer_directory.h"

#include "temporary_folder.h"
#include "text/tokenizer_testing.h"

namespace teapot::text {
namespace {

// A directory of its own for each test, with the small tokenizer's files in it.
class TokenizerDirectory : public ::testing::Test {
 protected:
  void copy(const char* name) { std::filesystem::copy_file(small_tokenizer_path(name), directory_ / name); }
  void write(const char* name, const Json& json) { ASSERT_TRUE(write_file(directory_ / name, json.dump())); }
  Result<Tokenizer> load() { return load_tokenizer_directory(directory_.path()); }
  void expect_error(ErrorKind kind, std::string_view message) {
    const auto result = load();
    ASSERT_FALSE(result) << message;
    EXPECT_EQ(result.error().kind, kind);
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
  }

  testing::TemporaryFolder directory_;
};

TEST_F(TokenizerDirectory, NothingThere) { expect_error(ErrorKind::kNotFound, "neither tokenizer.json nor vocab.json with merges.txt"); }

TEST_F(TokenizerDirectory, TheConfigNamesTheEosToken) {
  copy("tokenizer.json");
  EXPECT_EQ(load()->eos_id(), std::nullopt);
  write("tokenizer_config.json", {{"eos_token", "<|im_end|>"}});
  EXPECT_EQ(load()->eos_id(), 1017);
  write("tokenizer_config.json", {{"eos_token", {{"content", "<|endoftext|>"}, {"special", true}}}});
  EXPECT_EQ(load()->eos_id(), 1015);
  write("tokenizer_config.json", {{"eos_token", nullptr}});
  EXPECT_EQ(load()->eos_id(), std::nullopt);
  write("tokenizer_config.json", {{"eos_token", "</s>"}});
  expect_error(ErrorKind::kInvalid, "eos_token '</s>' is not in the vocabulary");
  write("tokenizer_config.json", {{"eos_token", 3}});
  expect_error(ErrorKind::kInvalid, "eos_token: expected an object");
}

TEST_F(TokenizerDirectory, TheConfigMayAddTokens) {
  copy("tokenizer.json");
  const auto decoder = [](const char* id, const char* content) {
    return Json{{"added_tokens_decoder", {{id, {{"content", content}, {"special", true}}}}}};
  };
  write("tokenizer_config.json", decoder("1024", "<|new|>"));
  EXPECT_EQ(load()->encode("a<|new|>", true)->back(), 1024);
  write("tokenizer_config.json", decoder("1017", "<|im_end|>"));
  EXPECT_TRUE(load());
  write("tokenizer_config.json", decoder("1018", "<|im_end|>"));
  expect_error(ErrorKind::kInvalid, "'<|im_end|>' has the id 1017");
  write("tokenizer_config.json", decoder("x", "<|new|>"));
  expect_error(ErrorKind::kInvalid, "added_tokens_decoder['x']: the key is not an id");
  write("tokenizer_config.json", {{"added_tokens_decoder", {1}}});
  expect_error(ErrorKind::kInvalid, "added_tokens_decoder: expected an object");
}

TEST_F(TokenizerDirectory, TheRegexOfVocabJsonComesFromTheConfigs) {
  copy("vocab.json");
  copy("merges.txt");
  expect_error(ErrorKind::kUnsupported, "tell the regex");
  // A mark after a letter is part of the word for qwen35 only: as a piece of its own it starts no merge with the letter.
  const auto ids = [&] { return load()->encode("x\u0300\u0301y", true).value(); };
  write("tokenizer_config.json", {{"tokenizer_class", "Qwen2Tokenizer"}});
  const auto qwen2 = ids();
  write("config.json", {{"model_type", "qwen3_5_moe"}});
  const auto qwen35 = ids();
  write("tokenizer_config.json", {{"tokenizer_class", "Qwen2Tokenizer"}, {"pretokenize_regex", kQwen2Pattern}});
  EXPECT_EQ(ids(), qwen2) << "a regex that is given counts first";
  write("tokenizer_config.json", {{"tokenizer_class", "Qwen2Tokenizer"}});
  EXPECT_EQ(ids(), qwen35);
  write("config.json", {{"model_type", "llama"}});
  expect_error(ErrorKind::kUnsupported, "model_type ('llama')");
}

TEST_F(TokenizerDirectory, AddedTokensWithoutTheirKindAreRefused) {
  copy("vocab.json");
  copy("merges.txt");
  write("added_tokens.json", {{"<think>", 1015}});
  write("tokenizer_config.json", {{"tokenizer_class", "Qwen2Tokenizer"}});
  expect_error(ErrorKind::kUnsupported, "added_tokens.json");
}

TEST_F(TokenizerDirectory, BrokenConfig) {
  copy("tokenizer.json");
  ASSERT_TRUE(write_file(directory_ / "tokenizer_config.json", "{"));
  expect_error(ErrorKind::kInvalid, "tokenizer_config.json: not JSON");
  write("tokenizer_config.json", Json::array());
  expect_error(ErrorKind::kInvalid, "tokenizer_config.json: expected an object");
}

TEST(MergesTxt, Lines) {
  using Merges = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_merges_txt("#version: 0.2\na b\r\n\n# c\n", "merges.txt").value(), (Merges{{"a", "b"}, {"#", "c"}}));
  EXPECT_EQ(parse_merges_txt("", "merges.txt").value(), Merges{});
  const auto broken = parse_merges_txt("a b\na b c\n", "merges.txt");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("merges.txt: line 2: ")) << broken.error().message;
}

}  // namespace
}  // namespace teapot::text
