#include "text/utf8.h"

#include <cassert>
#include <cstring>

namespace teapot::text {

Utf8Step next_utf8(std::string_view bytes) {
  using Kind = Utf8Step::Kind;
  assert(!bytes.empty());
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {Kind::kCharacter, 1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {Kind::kIllFormed, 1, 0};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF (table 3-7 of the standard).
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  char32_t code = lead & (0xFF >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if (bytes.size() == static_cast<size_t>(i)) return {Kind::kIncomplete, static_cast<uint8_t>(i), 0};
    if (byte(i) < low || byte(i) > high) return {Kind::kIllFormed, static_cast<uint8_t>(i), 0};
    code = code << 6 | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {Kind::kCharacter, static_cast<uint8_t>(length), code};
}

char32_t last_utf8(std::string_view text) {
  size_t start = text.size() - 1;
  while ((static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
  return next_utf8(text.substr(start)).code;
}

size_t ascii_prefix(std::string_view text) {
  size_t i = 0;
  for (uint64_t word; i + sizeof(word) <= text.size(); i += sizeof(word)) {
    std::memcpy(&word, text.data() + i, sizeof(word));
    if (word & 0x8080808080808080u) break;
  }
  while (i < text.size() && static_cast<uint8_t>(text[i]) < 0x80) ++i;
  return i;
}

size_t find_ill_formed(std::string_view text) {
  size_t i = 0;
  while (true) {
    i += ascii_prefix(text.substr(i));
    if (i == text.size()) return text.npos;
    const Utf8Step step = next_utf8(text.substr(i));
    if (step.kind != Utf8Step::Kind::kCharacter) return i;
    i += step.length;
  }
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  } else if (code < 0x10000) {
    out += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3F)),
            static_cast<char>(0x80 | (code >> 6 & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
  }
}

}  // namespace teapot::text
