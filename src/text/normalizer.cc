#include "text/normalizer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include <utf8proc.h>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

using CodeBuffer = std::vector<utf8proc_int32_t>;

// No character below takes part in any change of NFC, if no mark follows.
constexpr char32_t kFirstMark = 0x300;

// The vowels and final consonants of Hangul compose with the syllable before them.
bool is_trailing_jamo(char32_t code) { return code >= 0x1161 && code <= 0x11C2; }

// Whether a text with this character can differ from its NFC. Every character that composes with the one before it is a mark or
// a jamo. A precomposed letter counts as well: that is more than needed and simple.
bool may_change(char32_t code) {
  if (code < kFirstMark) return false;
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  const bool mark = property->category == UTF8PROC_CATEGORY_MN || property->category == UTF8PROC_CATEGORY_MC ||
                    property->category == UTF8PROC_CATEGORY_ME;
  const bool decomposes = property->decomp_seqindex != UINT16_MAX && property->decomp_type == 0;
  return mark || property->combining_class != 0 || decomposes || is_trailing_jamo(code);
}

bool is_surely_nfc(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    i += ascii_prefix(text.substr(i));
    if (i == text.size()) break;
    const Utf8Step step = next_utf8(text.substr(i));
    if (may_change(step.code)) return false;
    i += step.length;
  }
  return true;
}

uint8_t combining_class(utf8proc_int32_t code) { return static_cast<uint8_t>(utf8proc_get_property(code)->combining_class); }

void append_decomposition(CodeBuffer& buffer, char32_t code) {
  utf8proc_int32_t parts[8];  // the longest canonical decomposition has four characters
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, std::size(parts),
                                                         static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), &boundary);
  buffer.insert(buffer.end(), parts, parts + count);
}

// Sorts by combining class, those of equal classes in their order: by counting, as there are 256 classes.
void sort_marks(std::span<utf8proc_int32_t> marks) {
  if (std::ranges::is_sorted(marks, {}, combining_class)) return;
  std::array<size_t, 256> place{};
  for (const auto code : marks) ++place[combining_class(code)];
  std::exclusive_scan(place.begin(), place.end(), place.begin(), size_t{0});
  const CodeBuffer unsorted(marks.begin(), marks.end());
  for (const auto code : unsorted) marks[place[combining_class(code)]++] = code;
}

// utf8proc's own reordering moves marks one place at a time, which takes hours for a text of a million marks.
void reorder_marks(CodeBuffer& buffer) {
  for (auto it = buffer.begin(); it != buffer.end();) {
    const auto first = std::find_if(it, buffer.end(), [](auto code) { return combining_class(code) != 0; });
    it = std::find_if(first, buffer.end(), [](auto code) { return combining_class(code) == 0; });
    sort_marks({first, it});
  }
}

// A starter that composes with nothing: the text falls apart there. Such is everything that the tables of Unicode 9 do not have, and
// U+11A7, the vowel one before the first final consonant, which utf8proc 2.8 takes for an empty consonant and drops.
bool is_inert(char32_t code) { return code == 0x11A7 || contains(newer_than_nfc(), code); }

// Appends the NFC of what was collected, and empties the buffer.
void flush(CodeBuffer& buffer, std::string& out) {
  reorder_marks(buffer);
  const utf8proc_ssize_t length = utf8proc_normalize_utf32(buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()),
                                                           static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t i = 0; i < length; ++i) append_utf8(out, static_cast<char32_t>(buffer[i]));
  buffer.clear();
}

}  // namespace

std::string_view to_nfc(std::string_view text, std::string& storage) {
  if (is_surely_nfc(text)) return text;
  storage.clear();
  CodeBuffer buffer;
  for (size_t i = 0; i < text.size();) {
    const Utf8Step step = next_utf8(text.substr(i));
    i += step.length;
    if (is_inert(step.code)) {
      flush(buffer, storage);
      append_utf8(storage, step.code);
    } else {
      append_decomposition(buffer, step.code);
    }
  }
  flush(buffer, storage);
  return storage;
}

}  // namespace teapot::text
