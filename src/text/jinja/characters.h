// Text as Python sees it: a row of characters. Offsets and lengths of templates count characters, while our texts are UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace teapot::text::jinja {

// Bytes of the first character of text, which must not be empty; an ill-formed byte counts as one character.
size_t character_bytes(std::string_view text);

size_t count_characters(std::string_view text);

// Byte offset of character number `index`, or text.size() if there are fewer.
size_t byte_offset(std::string_view text, size_t index);

std::vector<std::string_view> split_characters(std::string_view text);
std::u32string decode(std::string_view text);
std::string encode(std::u32string_view codes);

// utf8proc's general category (UTF8PROC_CATEGORY_...).
int category(char32_t code);

bool is_space(char32_t code);      // str.isspace and the \s of Python's re
bool is_letter(char32_t code);     // str.isalpha
bool is_decimal(char32_t code);    // str.isdecimal
bool is_digit(char32_t code);      // str.isdigit: also superscripts and circled digits
bool is_printable(char32_t code);  // what repr shows as it is
bool is_word(char32_t code);       // the \w of Python's re

// Bytes of white space at the start and at the end of text.
size_t leading_space(std::string_view text);
size_t trailing_space(std::string_view text);

// Without the characters at its ends that are white space, or that are among `set`.
std::string_view strip(std::string_view text, bool left, bool right, std::optional<std::string_view> set);

// str.splitlines()
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

}  // namespace teapot::text::jinja
