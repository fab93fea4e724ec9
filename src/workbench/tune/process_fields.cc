#include "workbench/tune/process_fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <set>

#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

template <class F>
void for_fields(std::string_view text, const F& fn) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (const size_t colon = line.find(':'); colon != line.npos) fn(line.substr(0, colon), trimmed(line.substr(colon + 1), " \t"));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Takes a number off the front of the text.
bool take_number(std::string_view& text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Nothing: no list of processors.
std::optional<std::set<unsigned>> processors_in(std::string_view text) {
  constexpr unsigned kMost = 1 << 16;
  std::set<unsigned> all;
  do {
    unsigned first = 0;
    if (!take_number(text, first)) return std::nullopt;
    unsigned last = first;
    if (take(text, '-') && !take_number(text, last)) return std::nullopt;
    if (last >= kMost) return std::nullopt;
    for (unsigned i = first; i <= last; ++i) all.insert(i);
  } while (take(text, ','));
  return text.empty() ? std::optional(all) : std::nullopt;
}

// Of "00000000,00000055", with or without 0x. Nothing: no mask.
std::optional<std::set<unsigned>> processors_of_mask(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::set<unsigned> all;
  unsigned first = 0;
  for (const char c : text | std::views::reverse) {
    if (c == ',') continue;
    unsigned digit = 0;
    if (std::from_chars(&c, &c + 1, digit, 16).ec != std::errc{}) return std::nullopt;
    for (unsigned bit = 0; bit < 4; ++bit) {
      if ((digit >> bit & 1) != 0) all.insert(first + bit);
    }
    first += 4;
  }
  return all;
}

}  // namespace

Counters numbers_in(std::string_view text) {
  Counters numbers;
  for_fields(text, [&](std::string_view name, std::string_view value) {
    double number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) numbers[std::string(name)] += number;
  });
  return numbers;
}

std::vector<std::string> fields_in(std::string_view text, std::string_view field) {
  std::vector<std::string> all;
  for_fields(text, [&](std::string_view name, std::string_view value) {
    if (name == field) all.emplace_back(value);
  });
  return all;
}

bool fits(std::string_view found, std::string_view wanted) {
  const bool masks = wanted.starts_with("0x");
  const auto some = masks ? processors_of_mask(found) : processors_in(found),
             all = masks ? processors_of_mask(wanted) : processors_in(wanted);
  return some && all ? std::ranges::includes(*all, *some) : found == wanted;
}

}  // namespace teapot::workbench
