// Upper, lower and title case as Python's str has them: full mappings, so a character may become several.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace teapot::text::jinja {

struct SpecialCase {
  char32_t code;
  std::string_view upper;
  std::string_view title;
};

// Ascending by code.
std::span<const SpecialCase> special_cases();

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_title(std::string_view text);    // the first cased letter of each run of cased letters, as str.title()
std::string capitalize(std::string_view text);  // first character title case, all others lower case
std::string swap_case(std::string_view text);

bool is_cased(char32_t code);
bool is_upper(char32_t code);
bool is_lower(char32_t code);
bool is_title(char32_t code);

}  // namespace teapot::text::jinja
