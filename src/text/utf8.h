// UTF-8, one character at a time, with ill-formed bytes cut into the maximal parts of the Unicode standard (3.9, "U+FFFD
// substitution of maximal subparts"), which is also what Python's errors="replace" does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace teapot::text {

struct Utf8Step {
  enum class Kind : uint8_t {
    kCharacter,   // complete and well-formed
    kIncomplete,  // the bytes end inside a character that more bytes could complete
    kIllFormed,   // no further byte can mend it
  };
  Kind kind;
  uint8_t length;  // bytes of the character or part, at least 1
  char32_t code;   // of a complete character, else 0
};

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// The first character of bytes, which must not be empty.
Utf8Step next_utf8(std::string_view bytes);

// The last character of text, which must be well-formed and not empty.
char32_t last_utf8(std::string_view text);

// Offset of the first byte that is not part of a well-formed character; npos if there is none.
size_t find_ill_formed(std::string_view text);

// Number of leading bytes below 0x80.
size_t ascii_prefix(std::string_view text);

// code must be a scalar value.
void append_utf8(std::string& out, char32_t code);

}  // namespace teapot::text
