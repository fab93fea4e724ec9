#include "engine/gguf_text.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

model::Gguf with(std::initializer_list<std::pair<const char*, const char*>> keys) {
  model::Gguf gguf;
  gguf.path = "m.gguf";
  for (const auto& [key, text] : keys) gguf.metadata[key] = {model::GgufType::kString, std::string_view(text)};
  return gguf;
}

TEST(GgufTokenizer, AFileWithoutOneIsToldFromABrokenOne) {
  const auto error = [](const model::Gguf& gguf) {
    const auto tokenizer = gguf_tokenizer(gguf, "m.gguf");
    return tokenizer ? Error{ErrorKind::kInternal, "a tokenizer"} : tokenizer.error();
  };
  for (const char* left_out : {"no_vocab", "none"}) {
    const Error absent = error(with({{"tokenizer.ggml.model", left_out}}));
    EXPECT_EQ(absent.kind, ErrorKind::kNotFound);
    EXPECT_NE(absent.message.find("has no tokenizer"), std::string::npos) << absent.message;
  }
  EXPECT_EQ(error(with({})).kind, ErrorKind::kNotFound);

  const Error broken = error(with({{"tokenizer.ggml.model", "gpt2"}}));
  EXPECT_EQ(broken.kind, ErrorKind::kInvalid);
  EXPECT_NE(broken.message.find("tokenizer.ggml.pre"), std::string::npos) << broken.message;
  EXPECT_EQ(error(with({{"tokenizer.ggml.tokens", "not an array"}})).kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace teapot::engine
