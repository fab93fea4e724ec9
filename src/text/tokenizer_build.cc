// Tokenizer::build: from what the files say to the tables that encoding uses, with every claim of the files checked.
#include <algorithm>
#include <unordered_map>

#include "text/byte_level.h"
#include "text/normalizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

// Sixteen times the largest vocabulary known: an id beyond would only make a huge table.
constexpr int64_t kMaxTokens = 1 << 22;
constexpr size_t kMaxTokenBytes = 1 << 20;
constexpr size_t kMaxAddedBytes = 512;

using TokenIds = std::unordered_map<std::string_view, int32_t>;

Status check_id(const TokenizerParts& parts, std::string_view token, int64_t id) {
  if (id >= 0 && id < kMaxTokens) return {};
  return fail(ErrorKind::kInvalid, "{}: token '{}' has the id {}, expected 0 to {}", parts.source, token, id, kMaxTokens - 1);
}

Result<TokenIds> index_vocab(const TokenizerParts& parts) {
  TokenIds ids;
  ids.reserve(parts.vocab.size());
  for (const auto& [token, id] : parts.vocab) {
    TEAPOT_CHECK(check_id(parts, token, id));
    if (token.empty()) return fail(ErrorKind::kInvalid, "{}: the token with the id {} has no text", parts.source, id);
    if (token.size() > kMaxTokenBytes) {
      return fail(ErrorKind::kInvalid, "{}: the token with the id {} has {} bytes, at most {} are expected", parts.source, id, token.size(),
                  kMaxTokenBytes);
    }
    if (!ids.emplace(token, static_cast<int32_t>(id)).second) {
      return fail(ErrorKind::kInvalid, "{}: token '{}' is in the vocabulary twice", parts.source, token);
    }
  }
  return ids;
}

Result<std::array<int32_t, 256>> byte_tokens(const TokenizerParts& parts, const TokenIds& ids) {
  std::array<int32_t, 256> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string token = token_of_bytes(std::string(1, static_cast<char>(byte)));
    const auto found = ids.find(token);
    if (found == ids.end()) {
      return fail(ErrorKind::kInvalid, "{}: the vocabulary has no token '{}' for byte 0x{:02X}; expected one for each byte", parts.source,
                  token, byte);
    }
    bytes[byte] = found->second;
  }
  return bytes;
}

Result<std::vector<Merge>> resolve_merges(const TokenizerParts& parts, const TokenIds& ids) {
  std::vector<Merge> merges;
  merges.reserve(parts.merges.size());
  for (const auto& [left, right] : parts.merges) {
    std::array<int32_t, 3> found;
    const std::array<std::string, 3> names = {left, right, left + right};
    for (size_t i = 0; i < names.size(); ++i) {
      const auto token = ids.find(names[i]);
      if (token == ids.end()) {
        return fail(ErrorKind::kInvalid, "{}: merge {} ('{}' '{}'): '{}' is not in the vocabulary", parts.source, merges.size(), left,
                    right, names[i]);
      }
      found[i] = token->second;
    }
    merges.push_back({found[0], found[1], found[2]});
  }
  return merges;
}

Status check_added(const TokenizerParts& parts, const TokenIds& ids) {
  std::unordered_map<std::string_view, int64_t> contents;
  for (const AddedToken& token : parts.added) {
    TEAPOT_CHECK(check_id(parts, token.content, token.id));
    if (token.content.empty() || token.content.size() > kMaxAddedBytes) {
      return fail(ErrorKind::kInvalid, "{}: the added token with the id {} has {} bytes, expected 1 to {}", parts.source, token.id,
                  token.content.size(), kMaxAddedBytes);
    }
    if (find_ill_formed(token.content) != std::string::npos) {
      return fail(ErrorKind::kInvalid, "{}: the added token with the id {} is not UTF-8", parts.source, token.id);
    }
    if (!contents.emplace(token.content, token.id).second) {
      return fail(ErrorKind::kInvalid, "{}: added token '{}' stands there twice", parts.source, token.content);
    }
    if (const auto base = ids.find(token.content); base != ids.end() && base->second != token.id) {
      return fail(ErrorKind::kInvalid, "{}: added token '{}' has the id {}, but {} in the vocabulary", parts.source, token.content,
                  token.id, base->second);
    }
  }
  return {};
}

}  // namespace

Result<Tokenizer> Tokenizer::build(const TokenizerParts& parts) {
  TEAPOT_TRY(const TokenIds ids, index_vocab(parts));
  TEAPOT_TRY(const auto byte_ids, byte_tokens(parts, ids));
  TEAPOT_TRY(const std::vector<Merge> merges, resolve_merges(parts, ids));
  TEAPOT_CHECK(check_added(parts, ids));
  auto pretokenizer = Pretokenizer::compile(parts.pattern);
  if (!pretokenizer) return at(parts.source, std::move(pretokenizer).error());

  Tokenizer tokenizer(*std::move(pretokenizer), parts.nfc);
  tokenizer.bpe_ = Bpe(byte_ids, merges);

  int64_t size = 0;
  for (const auto& [token, id] : parts.vocab) size = std::max(size, id + 1);
  for (const AddedToken& token : parts.added) size = std::max(size, token.id + 1);
  tokenizer.tokens_.resize(size);
  const auto place = [&](TokenBytes& entry, std::string_view bytes) {
    entry.offset = static_cast<uint32_t>(tokenizer.text_.size());
    entry.length = static_cast<uint32_t>(bytes.size());
    entry.exists = true;
    tokenizer.text_ += bytes;
  };
  std::vector<std::string_view> names(size);  // of the vocabulary, by id
  for (const auto& [token, id] : parts.vocab) {
    if (tokenizer.tokens_[id].exists) {
      return fail(ErrorKind::kInvalid, "{}: tokens '{}' and '{}' have the same id {}", parts.source, names[id], token, id);
    }
    if (tokenizer.text_.size() + token.size() > UINT32_MAX) return fail(ErrorKind::kInvalid, "{}: more than 4 GiB of tokens", parts.source);
    names[id] = token;
    place(tokenizer.tokens_[id], bytes_of_token(token));
  }
  for (const AddedToken& token : parts.added) {
    TokenBytes& entry = tokenizer.tokens_[token.id];
    if (entry.exists && names[token.id] != token.content) {
      return fail(ErrorKind::kInvalid, "{}: added token '{}' has the id {}, which is that of {}", parts.source, token.content, token.id,
                  names[token.id].empty() ? "another added token" : fmt::format("'{}'", names[token.id]));
    }
    place(entry, token.content);
    entry.special = token.special;
  }

  tokenizer.added_ = parts.added;
  std::ranges::sort(tokenizer.added_, {}, &AddedToken::id);
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  for (const AddedToken& token : tokenizer.added_) (token.normalized ? normalized : raw).push_back(token);
  // The text that these are looked for in is normalised, so they are, too.
  for (AddedToken& token : normalized) {
    std::string storage;
    if (parts.nfc) token.content = std::string(to_nfc(token.content, storage));
  }
  tokenizer.raw_added_ = AddedTokenMatcher(raw);
  tokenizer.normalized_added_ = AddedTokenMatcher(normalized);

  if (parts.eos_token) {
    tokenizer.eos_ = tokenizer.token_id(*parts.eos_token);
    if (!tokenizer.eos_) return fail(ErrorKind::kInvalid, "{}: eos_token '{}' is not in the vocabulary", parts.source, *parts.eos_token);
  }
  return tokenizer;
}

}  // namespace teapot::text
