// Text to tokens and tokens to bytes, as the checkpoint's own tokenizer does it (spec 6.1): added tokens are split out of the raw
// text; what lies between goes through NFC, the pre-tokenizer's regex and byte-pair merging.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/pretokenizer.h"

namespace teapot::text {

// What every kind of tokenizer file comes down to; nothing is checked yet.
struct TokenizerParts {
  std::string source;                                       // names the file in errors
  std::vector<std::pair<std::string, int64_t>> vocab;       // token, in the byte-level alphabet, and its id
  std::vector<std::pair<std::string, std::string>> merges;  // in the order of their ranks
  std::vector<AddedToken> added;
  std::string pattern;  // of the pre-tokenizer
  bool nfc = false;
  std::optional<std::string> eos_token;  // its text
};

// Immutable; safe to use from several threads at once.
class Tokenizer {
 public:
  // Ids must be distinct and below 4,194,304, each byte must have a token, merges must name tokens and give one, an added token may
  // share its id with the same text in the vocabulary only.
  static Result<Tokenizer> build(const TokenizerParts& parts);

  // parse_added: added tokens in the text become themselves; else their characters are text like any other, as it must be for what
  // users write. Text that is not UTF-8 is kInvalid, with the place; so is text of 2 GiB or more.
  // Time n log n at worst, and linear for text that is language.
  Result<std::vector<int32_t>> encode(std::string_view text, bool parse_added) const;

  // The bytes that an id stands for (of an added token its text); empty for an id without a token. Need not be whole characters.
  std::string_view bytes(int32_t id) const;

  // Padding rows of the model and gaps of the vocabulary have no token.
  bool has_token(int32_t id) const;
  // A control token, which is not part of a reply's text.
  bool is_special(int32_t id) const;

  // The highest id that has a token, plus one.
  int32_t vocab_size() const { return static_cast<int32_t>(tokens_.size()); }

  // The id of the added token with this text, else of the token with these bytes.
  std::optional<int32_t> token_id(std::string_view text) const;

  // What the files name as the end of a turn. A model's stop tokens can be more: generation_config.json has the rest.
  std::optional<int32_t> eos_id() const { return eos_; }

  // By ascending id.
  const std::vector<AddedToken>& added_tokens() const { return added_; }

 private:
  struct TokenBytes {
    uint32_t offset = 0;  // into text_
    uint32_t length = 0;
    bool exists = false;
    bool special = false;
  };

  Tokenizer(Pretokenizer pretokenizer, bool nfc) : pretokenizer_(std::move(pretokenizer)), nfc_(nfc) {}

  Status encode_raw(std::string_view text, bool parse_added, std::vector<int32_t>& ids) const;
  Status encode_normalized(std::string_view text, std::vector<int32_t>& ids) const;

  Pretokenizer pretokenizer_;
  bool nfc_;
  Bpe bpe_;
  AddedTokenMatcher raw_added_;         // looked for in the text as it is
  AddedTokenMatcher normalized_added_;  // looked for after NFC
  std::vector<AddedToken> added_;
  std::vector<TokenBytes> tokens_;  // by id
  std::string text_;                // bytes of all tokens, one after the other
  std::optional<int32_t> eos_;
};

}  // namespace teapot::text
