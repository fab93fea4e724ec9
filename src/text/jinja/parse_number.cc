#include "text/jinja/parse_number.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include "text/jinja/characters.h"
#include "text/jinja/failure.h"

namespace teapot::text::jinja {
namespace {

bool is_ascii_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Without the underscores between digits; nothing if one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_ascii_word(text[i - 1]) || !is_ascii_word(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

std::optional<int64_t> parse_python_integer(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) raise_runtime("int() base must be >= 2 and <= 36, or 0");
  if (ascii_prefix(text) != text.size() &&
      strip(text, true, true, std::nullopt).size() != ascii_prefix(strip(text, true, true, std::nullopt))) {
    raise_runtime("numbers in other digits than ASCII are not supported");
  }
  text = strip(text, true, true, std::nullopt);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const char prefix = text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  const int64_t prefix_base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
  if (prefix_base != 0 && (base == prefix_base || base == 0)) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
    base = prefix_base;
  } else if (base == 0) {
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != text.npos) return std::nullopt;
    base = 10;
  }
  const auto digits = without_underscores(text);
  if (!digits || digits->empty() || digits->front() == '-') return std::nullopt;
  // The sign goes with the digits, so that the least of all integers can be read.
  const std::string number = (negative ? "-" : "") + *digits;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, static_cast<int>(base));
  if (end != number.data() + number.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) raise_runtime("integer overflow: {} does not fit into 64 bits", number);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<double> parse_python_real(std::string_view text) {
  text = strip(text, true, true, std::nullopt);
  if (ascii_prefix(text) != text.size()) return std::nullopt;
  const auto digits = without_underscores(text);
  if (!digits) return std::nullopt;
  std::string_view number = *digits;
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.remove_prefix(1);
  if (number.empty() || number.front() == '-' || number.find('(') != number.npos) return std::nullopt;  // from_chars takes nan(...)
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end != number.data() + number.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(number).c_str(), nullptr);
  return negative ? -value : value;
}

}  // namespace teapot::text::jinja
