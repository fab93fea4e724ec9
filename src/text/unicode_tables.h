// Where the Unicode tables of our libraries and those of the reference tokenizer part: its regex engine has Unicode 16, its NFC
// Unicode 9, and its \s is White_Space. Ranges are inclusive and ascending.
#pragma once

#include <span>

namespace teapot::text {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// What \p{L}, \p{M}, \p{N} have in Unicode 16 and not yet in Unicode 14.
std::span<const CodeRange> newer_letters();
std::span<const CodeRange> newer_marks();
std::span<const CodeRange> newer_numbers();

// Characters that canonical decomposition, reordering or composition knows, but not in Unicode 9: inert in the reference.
std::span<const CodeRange> newer_than_nfc();

// All of \s.
std::span<const CodeRange> white_space();

// By bisection.
bool contains(std::span<const CodeRange> ranges, char32_t code);

}  // namespace teapot::text
