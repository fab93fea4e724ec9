#include "text/tokenizer_gguf.h"

#include "text/tokenizer_testing.h"

namespace teapot::text {
namespace {

GgufTokenizer bytes_and_control() {
  GgufTokenizer metadata;
  metadata.source = "m.gguf";
  metadata.model = "gpt2";
  metadata.pre = "qwen2";
  for (const auto& [token, id] : byte_parts().vocab) metadata.tokens.push_back(token);
  metadata.tokens.insert(metadata.tokens.end(), {"<|im_end|>", "<think>", "[PAD258]"});
  metadata.token_type.assign(256, 1);
  metadata.token_type.insert(metadata.token_type.end(), {3, 4, 5});
  metadata.eos_token_id = 256;
  return metadata;
}

TEST(TokenizerGguf, TokenTypesSayWhatIsAdded) {
  const auto tokenizer = load_tokenizer_gguf(bytes_and_control());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("a<think><|im_end|>", true).value(), (std::vector<int32_t>{'a', 257, 256}));
  EXPECT_TRUE(tokenizer->is_special(256));
  EXPECT_FALSE(tokenizer->is_special(257));
  EXPECT_FALSE(tokenizer->has_token(258)) << "unused";
  EXPECT_EQ(tokenizer->vocab_size(), 258);
  EXPECT_EQ(tokenizer->eos_id(), 256);
}

TEST(TokenizerGguf, EosMayBeAnOrdinaryToken) {
  GgufTokenizer metadata = bytes_and_control();
  metadata.eos_token_id = ' ';
  EXPECT_EQ(load_tokenizer_gguf(metadata)->eos_id(), ' ');
}

TEST(TokenizerGguf, BrokenMetadata) {
  const auto expect_error = [](ErrorKind kind, std::string_view message, void (*change)(GgufTokenizer&)) {
    GgufTokenizer metadata = bytes_and_control();
    change(metadata);
    const auto result = load_tokenizer_gguf(metadata);
    ASSERT_FALSE(result) << message;
    EXPECT_EQ(result.error().kind, kind);
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
  };
  expect_error(ErrorKind::kUnsupported, "m.gguf: tokenizer.ggml.model: 'llama'", [](GgufTokenizer& m) { m.model = std::string("llama"); });
  expect_error(ErrorKind::kUnsupported, "m.gguf: tokenizer.ggml.pre: 'deepseek-v3'",
               [](GgufTokenizer& m) { m.pre = std::string("deepseek-v3"); });
  expect_error(ErrorKind::kUnsupported, "tokenizer.ggml.token_type[3]: 6", [](GgufTokenizer& m) { m.token_type[3] = 6; });
  expect_error(ErrorKind::kInvalid, "tokenizer.ggml.token_type has 258 entries, tokenizer.ggml.tokens 259",
               [](GgufTokenizer& m) { m.token_type.pop_back(); });
  expect_error(ErrorKind::kInvalid, "tokenizer.ggml.eos_token_id: 258", [](GgufTokenizer& m) { m.eos_token_id = 258; });
  expect_error(ErrorKind::kInvalid, "tokenizer.ggml.eos_token_id: -1", [](GgufTokenizer& m) { m.eos_token_id = -1; });
  expect_error(ErrorKind::kInvalid, "tokenizer.ggml.merges[0]: expected two texts", [](GgufTokenizer& m) { m.merges = {"ab"}; });
  expect_error(ErrorKind::kInvalid, "'ab' is not in the vocabulary", [](GgufTokenizer& m) { m.merges = {"a b"}; });
  expect_error(ErrorKind::kInvalid, "token 'a' is in the vocabulary twice", [](GgufTokenizer& m) { m.tokens['b'] = m.tokens['a']; });
  expect_error(ErrorKind::kInvalid, "not UTF-8", [](GgufTokenizer& m) { m.tokens[256] = std::string("\xFF"); });
}

}  // namespace
}  // namespace teapot::text
