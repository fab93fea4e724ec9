#include "workbench/tune/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace teapot::workbench {
namespace {

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// Calls found(name, begin, end) for each reference, in order.
template <class Found>
void each_reference(std::string_view text, const Found& found) {
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',' || text[at - 1] == '=';
    if (text[at] != '@' || !begins_word) continue;
    size_t end = at + 1;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at + 1) continue;
    found(text.substr(at + 1, end - at - 1), at, end);
    at = end - 1;
  }
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return text.substr(text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::optional<bool> yes_or_no(std::string_view word) {
  constexpr std::array<std::string_view, 4> kYes = {"true", "on", "yes", "enabled"}, kNo = {"false", "off", "no", "disabled"};
  if (std::ranges::find(kYes, word) != kYes.end()) return true;
  if (std::ranges::find(kNo, word) != kNo.end()) return false;
  return std::nullopt;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> references_in(std::string_view text) {
  std::vector<std::string> names;
  each_reference(text, [&](std::string_view name, size_t, size_t) { names.emplace_back(name); });
  return names;
}

Result<std::string> replace_references(std::string_view text, const std::function<Result<std::string>(std::string_view)>& replace) {
  std::string out;
  size_t done = 0;
  Status status;
  each_reference(text, [&](std::string_view name, size_t begin, size_t end) {
    if (!status) return;
    const Result<std::string> value = replace(name);
    if (!value) {
      status = std::unexpected(value.error());
      return;
    }
    out.append(text.substr(done, begin - done)).append(*value);
    done = end;
  });
  TEAPOT_CHECK(std::move(status));
  return out.append(text.substr(done));
}

std::vector<std::string> words_of(const Json& list) {
  std::vector<std::string> words;
  for (const Json& item : list) words.push_back(item.is_string() ? item.get<std::string>() : dump_json(item));
  return words;
}

}  // namespace teapot::workbench
