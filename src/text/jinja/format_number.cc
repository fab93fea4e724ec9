#include "text/jinja/format_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace teapot::text::jinja {

std::string integer_digits(int64_t value, int base, bool upper_case) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  char buffer[64];
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base).ptr);
  if (upper_case)
    std::ranges::transform(digits, digits.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return digits;
}

std::string real_digits(double value, char type, int digits, bool alternate) {
  const bool upper_case = type >= 'A' && type <= 'Z';
  if (!std::isfinite(value)) {
    const std::string_view word = std::isnan(value) ? (upper_case ? "NAN" : "nan") : (upper_case ? "INF" : "inf");
    return std::string(word);
  }
  const std::string format = fmt::format("{{:{}.{}{}}}", alternate ? "#" : "", digits, type);
  return fmt::format(fmt::runtime(format), std::fabs(value));
}

}  // namespace teapot::text::jinja
