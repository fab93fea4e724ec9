#include "text/tokenizer_gguf.h"

#include "text/byte_level.h"
#include "text/vocab_json.h"

namespace teapot::text {
namespace {

enum TokenType : int32_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

Status add_tokens(const GgufTokenizer& metadata, TokenizerParts& parts) {
  for (size_t id = 0; id < metadata.tokens.size(); ++id) {
    const std::string& token = metadata.tokens[id];
    switch (const int32_t type = metadata.token_type[id]; type) {
      case kNormal:
        parts.vocab.emplace_back(token, static_cast<int64_t>(id));
        break;
      case kControl:
      case kUserDefined:
        parts.added.push_back({.id = static_cast<int64_t>(id), .content = token, .special = type == kControl});
        break;
      case kUnused:
        break;
      default:
        return fail(ErrorKind::kUnsupported,
                    "{}: tokenizer.ggml.token_type[{}]: {}, expected 1 (normal), 3 (control), 4 (user-defined) or 5 (unused)",
                    metadata.source, id, type);
    }
  }
  return {};
}

// The text of the eos token, by which Tokenizer::build finds it.
Result<std::string> eos_text(const GgufTokenizer& metadata, int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(metadata.tokens.size()) || metadata.token_type[id] == kUnused) {
    return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.eos_token_id: {} is no token", metadata.source, id);
  }
  return metadata.token_type[id] == kNormal ? bytes_of_token(metadata.tokens[id]) : metadata.tokens[id];
}

}  // namespace

Result<Tokenizer> load_tokenizer_gguf(const GgufTokenizer& metadata) {
  if (metadata.model != "gpt2") {
    return fail(ErrorKind::kUnsupported, "{}: tokenizer.ggml.model: '{}', expected 'gpt2' (byte-level BPE)", metadata.source,
                metadata.model);
  }
  if (metadata.pre != "qwen2" && metadata.pre != "qwen35") {
    return fail(ErrorKind::kUnsupported, "{}: tokenizer.ggml.pre: '{}', expected 'qwen35' or 'qwen2'", metadata.source, metadata.pre);
  }
  if (metadata.token_type.size() != metadata.tokens.size()) {
    return fail(ErrorKind::kInvalid, "{}: tokenizer.ggml.token_type has {} entries, tokenizer.ggml.tokens {}", metadata.source,
                metadata.token_type.size(), metadata.tokens.size());
  }
  TokenizerParts parts;
  parts.source = metadata.source;
  parts.pattern = metadata.pre == "qwen2" ? kQwen2Pattern : kQwen35Pattern;
  parts.nfc = true;  // the format has no place for it; the tokenizers that these names stand for have it
  TEAPOT_CHECK(add_tokens(metadata, parts));
  parts.merges.reserve(metadata.merges.size());
  for (size_t i = 0; i < metadata.merges.size(); ++i) {
    auto merge = parse_merge(metadata.merges[i]);
    if (!merge) return at(fmt::format("{}: tokenizer.ggml.merges[{}]", metadata.source, i), std::move(merge).error());
    parts.merges.push_back(*std::move(merge));
  }
  if (metadata.eos_token_id) {
    TEAPOT_TRY(parts.eos_token, eos_text(metadata, *metadata.eos_token_id));
  }
  return Tokenizer::build(parts);
}

}  // namespace teapot::text
