#include "workbench/trace/decimal.h"

#include <algorithm>
#include <limits>

namespace teapot::workbench::trace {
namespace {

constexpr int kNanosecond = -9;
constexpr int kMicrosecond = -6;
constexpr int kMaxExponent = 400;  // more digits than that shift any number out of 64 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Digits {
  uint64_t value = 0;
  bool overflow = false;

  void add(int digit) { overflow |= __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value); }
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<int> unit_exponent(std::string_view unit) {
  if (unit == "s") return 0;
  if (unit == "ms") return -3;
  if (unit == "us") return kMicrosecond;
  if (unit == "ns") return kNanosecond;
  return std::nullopt;
}

std::optional<int64_t> whole_to_ns(int64_t value, int exponent) {
  for (; exponent > kNanosecond; --exponent) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return value;
}

std::optional<Decimal> parse_decimal(std::string_view text, int exponent) {
  text = trimmed(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const size_t mantissa = std::min(text.find_first_of("eE"), text.size());
  std::string_view digits = text.substr(0, mantissa), power = text.substr(mantissa);
  int written = 0;  // the text's own exponent
  if (!power.empty()) {
    power.remove_prefix(1);
    const bool down = !power.empty() && power[0] == '-';
    if (!power.empty() && (power[0] == '-' || power[0] == '+')) power.remove_prefix(1);
    if (power.empty() || !std::ranges::all_of(power, is_digit)) return std::nullopt;
    for (const char c : power) written = std::min(kMaxExponent, written * 10 + (c - '0'));
    if (down) written = -written;
  }
  // The digit after `kept` places behind the point decides the rounding; those after it are worth less than half a nanosecond.
  const size_t point = std::min(digits.find('.'), digits.size());
  const auto behind = static_cast<int>(digits.size() - std::min(point + 1, digits.size()));
  const int kept = exponent + written - kNanosecond;
  Digits value;
  int place = -static_cast<int>(point);  // places behind the point, once the digit is read
  bool any = false, up = false;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i == point) continue;
    if (!is_digit(digits[i])) return std::nullopt;
    any = true;
    ++place;
    if (place <= kept) {
      value.add(digits[i] - '0');
    } else if (place == kept + 1) {
      up = digits[i] >= '5';
    }
  }
  if (!any) return std::nullopt;
  if (value.value != 0) {
    for (int i = place; i < kept && !value.overflow; ++i) value.add(0);
  }
  if (value.overflow || value.value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - 1) return std::nullopt;
  const auto ns = static_cast<int64_t>(value.value + (up ? 1 : 0));
  Decimal result;
  result.ns = negative ? -ns : ns;
  result.rounded = mantissa < text.size() && exponent + written - behind >= kMicrosecond;
  return result;
}

}  // namespace teapot::workbench::trace
