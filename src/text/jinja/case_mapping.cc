#include "text/jinja/case_mapping.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/jinja/characters.h"

namespace teapot::text::jinja {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kCapitalIWithDot = 0x130;

const SpecialCase* special(char32_t code) {
  if (code < 0x80) return nullptr;
  const auto cases = special_cases();
  const auto found = std::ranges::lower_bound(cases, code, {}, &SpecialCase::code);
  return found != cases.end() && found->code == code ? &*found : nullptr;
}

void append_upper(std::string& out, char32_t code) {
  if (const SpecialCase* s = special(code)) {
    out += s->upper;
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))));
  }
}

void append_title(std::string& out, char32_t code) {
  if (const SpecialCase* s = special(code)) {
    out += s->title;
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))));
  }
}

// Unicode's Case_Ignorable: marks, formats, modifiers, and the punctuation that stands inside words.
bool is_case_ignorable(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  constexpr char32_t kInsideWords[] = {'\'',   '.',    ':',    0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                       0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  return std::ranges::find(kInsideWords, code) != std::end(kInsideWords);
}

// A capital sigma at `at` ends its word: a cased letter before it and none after it, not counting what may be ignored.
bool is_final_sigma(std::u32string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::string& out, std::u32string_view text, size_t at) {
  const char32_t code = text[at];
  if (code == kCapitalIWithDot) {
    out += "i\xCC\x87";
  } else if (code == kCapitalSigma) {
    append_utf8(out, is_final_sigma(text, at) ? kFinalSigma : kSmallSigma);
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
}

}  // namespace

// Unicode's Other_Lowercase and Other_Uppercase are cased too, though they are no letters of case by category.
bool is_lower(char32_t code) {
  if (category(code) == UTF8PROC_CATEGORY_LL) return true;
  return code == 0xAA || code == 0xBA || (code >= 0x2B0 && code <= 0x2B8) || code == 0x2C0 || code == 0x2C1 ||
         (code >= 0x2E0 && code <= 0x2E4) || code == 0x345 || code == 0x37A || (code >= 0x1D2C && code <= 0x1D6A) || code == 0x1D78 ||
         (code >= 0x1D9B && code <= 0x1DBF) || code == 0x2071 || code == 0x207F || (code >= 0x2090 && code <= 0x209C) ||
         (code >= 0x2170 && code <= 0x217F) || (code >= 0x24D0 && code <= 0x24E9) || code == 0x2C7C || code == 0x2C7D || code == 0xA69C ||
         code == 0xA69D || code == 0xA770 || code == 0xA7F8 || code == 0xA7F9 || (code >= 0xAB5C && code <= 0xAB5F);
}

bool is_upper(char32_t code) {
  if (category(code) == UTF8PROC_CATEGORY_LU) return true;
  return (code >= 0x2160 && code <= 0x216F) || (code >= 0x24B6 && code <= 0x24CF) || (code >= 0x1F130 && code <= 0x1F149) ||
         (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

bool is_title(char32_t code) { return category(code) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t code) { return is_upper(code) || is_lower(code) || is_title(code); }

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t code : decode(text)) append_upper(out, code);
  return out;
}

std::string to_lower(std::string_view text) {
  const std::u32string codes = decode(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < codes.size(); ++i) append_lower(out, codes, i);
  return out;
}

std::string to_title(std::string_view text) {
  const std::u32string codes = decode(text);
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (inside) {
      append_lower(out, codes, i);
    } else {
      append_title(out, codes[i]);
    }
    inside = is_cased(codes[i]);
  }
  return out;
}

std::string capitalize(std::string_view text) {
  const std::u32string codes = decode(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (i == 0) {
      append_title(out, codes[i]);
    } else {
      append_lower(out, codes, i);
    }
  }
  return out;
}

std::string swap_case(std::string_view text) {
  const std::u32string codes = decode(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (is_upper(codes[i])) {
      append_lower(out, codes, i);
    } else if (is_lower(codes[i])) {
      append_upper(out, codes[i]);
    } else {
      append_utf8(out, codes[i]);
    }
  }
  return out;
}

}  // namespace teapot::text::jinja
