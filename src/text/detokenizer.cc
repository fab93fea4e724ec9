#include "text/detokenizer.h"

#include "text/utf8.h"

namespace teapot::text {

namespace {

bool begins_surrogate(std::string_view bytes) {
  return bytes.size() == 2 && bytes[0] == '\xED' && static_cast<uint8_t>(bytes[1]) >= 0xA0 && static_cast<uint8_t>(bytes[1]) <= 0xBF;
}

// Moves what is decided from the front of bytes to the result; at the end everything is.
std::string take_text(std::string& bytes, bool at_end) {
  std::string text;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const Utf8Step step = next_utf8(rest);
    if (!at_end && (step.kind == Utf8Step::Kind::kIncomplete || begins_surrogate(rest))) break;
    text += step.kind == Utf8Step::Kind::kCharacter ? rest.substr(0, step.length) : kReplacementCharacter;
    rest.remove_prefix(step.length);
  }
  bytes.erase(0, bytes.size() - rest.size());
  return text;
}

}  // namespace

std::string Detokenizer::push(int32_t id) {
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  held_ += tokenizer_->bytes(id);
  return take_text(held_, false);
}

std::string Detokenizer::flush() { return take_text(held_, true); }

std::string decode(const Tokenizer& tokenizer, std::span<const int32_t> ids, bool skip_special) {
  Detokenizer detokenizer(tokenizer, skip_special);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.flush();
}

}  // namespace teapot::text
