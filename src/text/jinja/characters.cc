#include "text/jinja/characters.h"

#include <utf8proc.h>

#include <algorithm>

namespace teapot::text::jinja {
namespace {

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

// Bytes of the last character of text, which must not be empty.
size_t last_character_bytes(std::string_view text) {
  size_t bytes = 1;
  while (bytes < 4 && bytes < text.size() && (static_cast<uint8_t>(text[text.size() - bytes]) & 0xC0) == 0x80) ++bytes;
  return character_bytes(text.substr(text.size() - bytes)) == bytes ? bytes : 1;
}

}  // namespace

size_t character_bytes(std::string_view text) {
  const Utf8Step step = next_utf8(text);
  return step.kind == Utf8Step::Kind::kCharacter ? step.length : 1;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

size_t byte_offset(std::string_view text, size_t index) {
  if (index >= text.size()) return text.size();
  const size_t ascii = ascii_prefix(text);
  if (index <= ascii) return index;
  size_t at = ascii;
  for (size_t left = index - ascii; left > 0 && at < text.size(); --left) at += character_bytes(text.substr(at));
  return at;
}

std::vector<std::string_view> split_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    characters.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return characters;
}

std::u32string decode(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    codes += step.kind == Utf8Step::Kind::kCharacter ? step.code : U'\uFFFD';
    text.remove_prefix(step.length);
  }
  return codes;
}

std::string encode(std::u32string_view codes) {
  std::string text;
  text.reserve(codes.size());
  for (const char32_t code : codes) append_utf8(text, code);
  return text;
}

int category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

bool is_space(char32_t code) {
  if (code < 0x80) return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_letter(char32_t code) {
  const int c = category(code);
  return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT || c == UTF8PROC_CATEGORY_LM ||
         c == UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t code) { return category(code) == UTF8PROC_CATEGORY_ND; }

bool is_digit(char32_t code) {
  return is_decimal(code) || code == 0xB2 || code == 0xB3 || code == 0xB9 || (code >= 0x1369 && code <= 0x1371) || code == 0x19DA ||
         code == 0x2070 || (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089) || (code >= 0x2460 && code <= 0x2468) ||
         (code >= 0x2474 && code <= 0x247C) || (code >= 0x2488 && code <= 0x2490) || code == 0x24EA || (code >= 0x24F5 && code <= 0x24FD) ||
         code == 0x24FF || (code >= 0x2776 && code <= 0x277E) || (code >= 0x2780 && code <= 0x2788) || (code >= 0x278A && code <= 0x2792) ||
         (code >= 0x10A40 && code <= 0x10A43) || (code >= 0x10E60 && code <= 0x10E68) || (code >= 0x11052 && code <= 0x1105A) ||
         (code >= 0x1F100 && code <= 0x1F10A);
}

bool is_printable(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return code == ' ';
    default:
      return true;
  }
}

bool is_word(char32_t code) {
  const int c = category(code);
  return code == '_' || is_letter(code) || c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

size_t leading_space(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = next_utf8(text.substr(at));
    if (step.kind != Utf8Step::Kind::kCharacter || !is_space(step.code)) break;
    at += step.length;
  }
  return at;
}

size_t trailing_space(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const size_t bytes = last_character_bytes(text.substr(0, end));
    const Utf8Step step = next_utf8(text.substr(end - bytes));
    if (step.kind != Utf8Step::Kind::kCharacter || !is_space(step.code)) break;
    end -= bytes;
  }
  return text.size() - end;
}

std::string_view strip(std::string_view text, bool left, bool right, std::optional<std::string_view> set) {
  if (!set) {
    if (left) text.remove_prefix(leading_space(text));
    if (right) text.remove_suffix(trailing_space(text));
    return text;
  }
  const std::u32string codes = decode(*set);
  const auto in_set = [&](std::string_view character) { return codes.find(decode(character)[0]) != codes.npos; };
  while (left && !text.empty() && in_set(text.substr(0, character_bytes(text)))) text.remove_prefix(character_bytes(text));
  while (right && !text.empty() && in_set(text.substr(text.size() - last_character_bytes(text))))
    text.remove_suffix(last_character_bytes(text));
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = next_utf8(text.substr(at));
    size_t end = at + step.length;
    if (step.kind == Utf8Step::Kind::kCharacter && is_line_end(step.code)) {
      if (step.code == '\r' && end < text.size() && text[end] == '\n') ++end;
      lines.push_back(text.substr(start, (keep_ends ? end : at) - start));
      start = end;
    }
    at = end;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

}  // namespace teapot::text::jinja
