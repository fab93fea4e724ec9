// Any bytes as text for a small tokenizer (ids that decode to the normalised text, or an error), as ids, and as a tokenizer.json.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "text/detokenizer.h"
#include "text/normalizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace {

using namespace teapot::text;

// Ids give back the NFC of what they were made of, if that is UTF-8.
void check_text(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, false);
  const bool well_formed = find_ill_formed(text) == text.npos;
  if (ids.has_value() != well_formed || tokenizer.encode(text, true).has_value() != well_formed) std::abort();
  if (!ids) return;
  Detokenizer detokenizer(tokenizer, true);
  std::string back;
  for (const int32_t id : *ids) back += detokenizer.push(id);
  back += detokenizer.flush();
  std::string storage;
  if (back != to_nfc(text, storage)) std::abort();
}

void check_ids(const Tokenizer& tokenizer, std::string_view bytes) {
  Detokenizer detokenizer(tokenizer, bytes.size() % 2 == 0);
  std::string text;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    text += detokenizer.push(static_cast<uint8_t>(bytes[i]) << 8 | static_cast<uint8_t>(bytes[i + 1]));
  }
  text += detokenizer.flush();
  if (find_ill_formed(text) != text.npos) std::abort();
}

// A tokenizer from the bytes may have any regex and added tokens: encoding ends, with ids that exist, or with an error.
void check_any(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, true);
  if (!ids) return;
  for (const int32_t id : *ids) {
    if (!tokenizer.has_token(id)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizer tokenizer = load_tokenizer_json(TEAPOT_SOURCE_DIR "/tests/data/text/small_tokenizer/tokenizer.json").value();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_text(tokenizer, bytes);
  check_ids(tokenizer, bytes);
  if (const auto parts = parse_tokenizer_json(bytes, "fuzz")) {
    if (const auto built = Tokenizer::build(*parts))
      check_any(*built, "Tea's <think>\u8a9e e\u0301\n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  }
  return 0;
}
