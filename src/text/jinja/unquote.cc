// Quoted texts of templates: Python's escapes, as the "unicode-escape" codec reads them.
#include <algorithm>

#include "text/jinja/character_names.h"
#include "text/jinja/characters.h"
#include "text/jinja/failure.h"
#include "text/jinja/lexer.h"

namespace teapot::text::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

class Unquoter {
 public:
  explicit Unquoter(const Token& token) : offset_(token.offset + 1), text_(token.text.substr(1, token.text.size() - 2)) {}

  std::string run() {
    std::string out;
    while (at_ < text_.size()) {
      const size_t escape = std::min(text_.find('\\', at_), text_.size());
      out += text_.substr(at_, escape - at_);
      at_ = escape;
      if (at_ < text_.size()) append_escape(out);
    }
    return out;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const { raise_syntax_at(offset_ + static_cast<uint32_t>(at_), "{}", why); }

  void append_code(std::string& out, uint32_t code) const {
    if (code > 0x10FFFF) refuse("illegal Unicode character in a text");
    if (code >= 0xD800 && code <= 0xDFFF) refuse("half a surrogate pair in a text: write the character itself or \\U and eight digits");
    append_utf8(out, code);
  }

  // Up to `most` digits, at least `least`, from `from` on.
  uint32_t number(size_t from, size_t least, size_t most, int base, size_t& end) const {
    uint32_t value = 0;
    end = from;
    while (end < text_.size() && end - from < most && digit_value(text_[end]) < base)
      value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit_value(text_[end++]));
    if (end - from < least) refuse(fmt::format("truncated \\{} escape", text_[from - 1]));
    return value;
  }

  void append_escape(std::string& out) {
    const char c = text_[at_ + 1];  // a text never ends in a lone backslash: it would have quoted the closing quote
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    size_t end = at_ + 2;
    if (c == '\n') {
      // a line continued
    } else if (const size_t letter = kLetters.find(c); letter != kLetters.npos) {
      out += kMeanings[letter];
    } else if (c >= '0' && c <= '7') {
      append_code(out, number(at_ + 1, 1, 3, 8, end));
    } else if (c == 'x') {
      append_code(out, number(at_ + 2, 2, 2, 16, end));
    } else if (c == 'u') {
      append_code(out, number(at_ + 2, 4, 4, 16, end));
    } else if (c == 'U') {
      append_code(out, number(at_ + 2, 8, 8, 16, end));
    } else if (c == 'N') {
      end = append_named(out);
    } else {
      append_unknown(out, end);
    }
    at_ = end;
  }

  size_t append_named(std::string& out) const {
    const size_t close = text_.find('}', at_);
    if (at_ + 2 >= text_.size() || text_[at_ + 2] != '{' || close == text_.npos) refuse("malformed \\N character escape");
    const std::string_view name = text_.substr(at_ + 3, close - at_ - 3);
    const auto code = character_named(name);
    if (!code) refuse(fmt::format("the character name '{}' is not known here: write \\u and its number", name));
    append_utf8(out, *code);
    return close + 1;
  }

  // The backslash stays. What follows it, if not ASCII, has become an escape itself by the time Python looks at it, and that
  // escape is now quoted by the backslash.
  void append_unknown(std::string& out, size_t& end) const {
    const std::string_view rest = text_.substr(at_ + 1);
    const Utf8Step step = next_utf8(rest);
    out += '\\';
    if (step.code < 0x80) {
      out += static_cast<char>(step.code);
    } else if (step.code < 0x100) {
      out += fmt::format("x{:02x}", static_cast<uint32_t>(step.code));
    } else if (step.code < 0x10000) {
      out += fmt::format("u{:04x}", static_cast<uint32_t>(step.code));
    } else {
      out += fmt::format("U{:08x}", static_cast<uint32_t>(step.code));
    }
    end = at_ + 1 + step.length;
  }

  uint32_t offset_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string unquote(const Token& token) { return Unquoter(token).run(); }

}  // namespace teapot::text::jinja
