// Tokens to text, one at a time, as they are generated (spec 6.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace teapot::text {

// Each push gives all the text that is decided: whole characters, and U+FFFD for each maximal ill-formed part that no further
// byte can mend. Held back are at most three bytes of a character that is not complete, and the first two of a surrogate (ED A0..BF):
// they are ill-formed already, but the reference (Python's incremental decoder) waits for the third. The pieces and the flush
// together are the decoding of all bytes at once.
class Detokenizer {
 public:
  // tokenizer must outlive this. skip_special: control tokens give no text, and the bytes before and behind them join.
  Detokenizer(const Tokenizer& tokenizer, bool skip_special) : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  // An id without a token gives no bytes.
  std::string push(int32_t id);

  // The end: U+FFFD for each ill-formed part of what was held back. Afterwards a new text may begin.
  std::string flush();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::string held_;
};

// The text of all ids at once.
std::string decode(const Tokenizer& tokenizer, std::span<const int32_t> ids, bool skip_special);

}  // namespace teapot::text
