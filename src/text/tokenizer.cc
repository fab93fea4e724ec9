#include "text/tokenizer.h"

#include <algorithm>

#include "text/normalizer.h"
#include "text/utf8.h"

namespace teapot::text {

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, bool parse_added) const {
  if (text.size() > INT32_MAX) return fail(ErrorKind::kInvalid, "text: {} bytes, at most {} can be tokenised", text.size(), INT32_MAX);
  if (const size_t place = find_ill_formed(text); place != text.npos) {
    return fail(ErrorKind::kInvalid, "text: not UTF-8 at byte {} (0x{:02X})", place, static_cast<uint8_t>(text[place]));
  }
  std::vector<int32_t> ids;
  TEAPOT_CHECK(encode_raw(text, parse_added, ids));
  return ids;
}

Status Tokenizer::encode_raw(std::string_view text, bool parse_added, std::vector<int32_t>& ids) const {
  std::string storage;
  const auto normalized = [&](std::string_view part) { return nfc_ ? to_nfc(part, storage) : part; };
  if (!parse_added) return encode_normalized(normalized(text), ids);
  for (const auto& [raw, token] : raw_added_.split(text)) {
    if (token) {
      ids.push_back(static_cast<int32_t>(token->id));
      continue;
    }
    for (const auto& [part, late_token] : normalized_added_.split(normalized(raw))) {
      if (late_token) {
        ids.push_back(static_cast<int32_t>(late_token->id));
      } else {
        TEAPOT_CHECK(encode_normalized(part, ids));
      }
    }
  }
  return {};
}

Status Tokenizer::encode_normalized(std::string_view text, std::vector<int32_t>& ids) const {
  TEAPOT_TRY(const std::vector<std::string_view> pieces, pretokenizer_.split(text));
  for (const std::string_view piece : pieces) bpe_.encode(piece, ids);
  return {};
}

std::string_view Tokenizer::bytes(int32_t id) const {
  if (!has_token(id)) return {};
  return std::string_view(text_).substr(tokens_[id].offset, tokens_[id].length);
}

bool Tokenizer::has_token(int32_t id) const { return id >= 0 && id < vocab_size() && tokens_[id].exists; }

bool Tokenizer::is_special(int32_t id) const { return has_token(id) && tokens_[id].special; }

std::optional<int32_t> Tokenizer::token_id(std::string_view text) const {
  const auto added = std::ranges::find(added_, text, &AddedToken::content);
  if (added != added_.end()) return static_cast<int32_t>(added->id);
  for (int32_t id = 0; id < vocab_size(); ++id) {
    if (has_token(id) && bytes(id) == text) return id;
  }
  return std::nullopt;
}

}  // namespace teapot::text
