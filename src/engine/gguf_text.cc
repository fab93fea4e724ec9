#include "engine/gguf_text.h"

#include <limits>

namespace teapot::engine {
namespace {

Result<text::GgufTokenizer> read_tokenizer(const model::Gguf& gguf, const std::string& source) {
  text::GgufTokenizer result;
  result.source = source;
  TEAPOT_TRY(result.model, gguf.string("tokenizer.ggml.model"));
  TEAPOT_TRY(result.pre, gguf.string("tokenizer.ggml.pre"));
  TEAPOT_TRY(result.tokens, gguf.strings("tokenizer.ggml.tokens"));
  TEAPOT_TRY(result.merges, gguf.strings("tokenizer.ggml.merges"));
  TEAPOT_TRY(const std::vector<int64_t> types, gguf.integers("tokenizer.ggml.token_type"));
  result.token_type.reserve(types.size());
  for (const int64_t type : types) {
    if (type < 0 || type > std::numeric_limits<int32_t>::max()) {
      return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.token_type has the value {}, which is no token type", source, type);
    }
    result.token_type.push_back(static_cast<int32_t>(type));
  }
  if (gguf.has("tokenizer.ggml.eos_token_id")) {
    TEAPOT_TRY(const uint64_t eos, gguf.unsigned_value("tokenizer.ggml.eos_token_id"));
    result.eos_token_id = static_cast<int64_t>(std::min<uint64_t>(eos, std::numeric_limits<int64_t>::max()));
  }
  return result;
}

}  // namespace

Result<text::GgufTokenizer> gguf_tokenizer(const model::Gguf& gguf, const std::string& source) {
  const bool listed = gguf.has("tokenizer.ggml.tokens");
  if (!listed && !gguf.has("tokenizer.ggml.model")) {
    return fail(ErrorKind::kNotFound, "{}: the file has no tokenizer (no tokenizer.ggml.* keys)", source);
  }
  if (!listed) {
    TEAPOT_TRY(const std::string model, gguf.string("tokenizer.ggml.model"));
    // How converters write that they left the vocabulary out.
    if (model == "no_vocab" || model == "none") {
      return fail(ErrorKind::kNotFound, "{}: the file has no tokenizer (tokenizer.ggml.model is '{}')", source, model);
    }
  }
  auto result = read_tokenizer(gguf, source);
  // From here on a missing key makes the tokenizer a broken one, not an absent one.
  if (!result && result.error().kind == ErrorKind::kNotFound) return fail(ErrorKind::kInvalid, "{}", result.error().message);
  return result;
}

Result<std::optional<std::string>> gguf_chat_template(const model::Gguf& gguf) {
  if (!gguf.has("tokenizer.chat_template")) return std::nullopt;
  TEAPOT_TRY(std::string text, gguf.string("tokenizer.chat_template"));
  return text;
}

}  // namespace teapot::engine
