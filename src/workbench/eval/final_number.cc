#include "workbench/eval/final_number.h"

#include <algorithm>

namespace teapot::workbench {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

size_t digits_at(std::string_view text, size_t from) {
  const auto rest = text.substr(from);
  return static_cast<size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
}

std::string canonical(bool negative, std::string_view whole, std::string_view fraction) {
  std::string digits;
  std::ranges::copy_if(whole, std::back_inserter(digits), is_digit);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) digits = "0";
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  if (!fraction.empty()) digits += "." + std::string(fraction);
  return negative && digits != "0" ? "-" + digits : digits;
}

// Whether what stands before a number makes it negative: "-5", "-$5", "$-5", with the hyphen or the minus sign of Unicode.
bool minus_before(std::string_view before) {
  constexpr std::string_view kSigns[] = {"-", "\u2212"}, kCurrencies[] = {"\\$", "$", "\u20ac", "\u00a3"};
  const auto drop = [&](const auto& endings) {
    for (const std::string_view ending : endings) {
      if (!before.ends_with(ending)) continue;
      before.remove_suffix(ending.size());
      return true;
    }
    return false;
  };
  drop(kCurrencies);
  if (!drop(kSigns)) return false;
  drop(kCurrencies);
  return before.empty() || !(is_digit(before.back()) || is_letter(before.back()) || before.back() == ')');
}

struct Number {
  std::string value;
  size_t end;  // in the text
};

// The first number at or behind `from`.
std::optional<Number> next_number(std::string_view text, size_t from) {
  size_t start = from;
  while (start < text.size() && !is_digit(text[start])) ++start;
  if (start == text.size()) return std::nullopt;
  if (start > from && text[start - 1] == '.' && (start < 2 || !is_digit(text[start - 2]))) {  // ".5"
    const size_t end = start + digits_at(text, start);
    return Number{canonical(minus_before(text.substr(0, start - 1)), "0", text.substr(start, end - start)), end};
  }
  size_t end = start + digits_at(text, start);
  if (end - start <= 3) {
    while (end < text.size() && text[end] == ',' && digits_at(text, end + 1) == 3) end += 4;
  }
  const std::string_view whole = text.substr(start, end - start);
  std::string_view fraction;
  if (end < text.size() && text[end] == '.') {
    fraction = text.substr(end + 1, digits_at(text, end + 1));
    if (!fraction.empty()) end += 1 + fraction.size();
  }
  return Number{canonical(minus_before(text.substr(0, start)), whole, fraction), end};
}

}  // namespace

std::optional<std::string> final_number(std::string_view reply) {
  constexpr std::string_view kMark = "####";
  for (size_t mark = reply.rfind(kMark); mark != reply.npos; mark = mark == 0 ? reply.npos : reply.rfind(kMark, mark - 1)) {
    const std::string_view line = reply.substr(0, reply.find('\n', mark));
    if (const auto number = next_number(line, mark + kMark.size())) return number->value;
  }
  std::optional<std::string> last;
  for (auto number = next_number(reply, 0); number; number = next_number(reply, number->end)) last = std::move(number->value);
  return last;
}

}  // namespace teapot::workbench
