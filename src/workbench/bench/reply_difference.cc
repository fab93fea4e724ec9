#include "workbench/bench/reply_difference.h"

#include <algorithm>

namespace teapot::workbench {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Of UTF-8, beginning at a character.
std::string some_characters(const std::string& text, size_t from) {
  constexpr size_t kShownBytes = 60;
  size_t end = std::min(text.size(), from + kShownBytes);
  while (end < text.size() && continues_character(text[end])) ++end;
  return text.substr(from, end - from);
}

FirstDifference first_difference(const std::string& a, const std::string& b) {
  auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  while (at > 0 && ((at < a.size() && continues_character(a[at])) || (at < b.size() && continues_character(b[at])))) --at;
  FirstDifference result;
  result.character = static_cast<uint32_t>(
      std::count_if(a.begin(), a.begin() + static_cast<ptrdiff_t>(at), [](char byte) { return !continues_character(byte); }));
  result.a = some_characters(a, at);
  result.b = some_characters(b, at);
  return result;
}

}  // namespace

void ReplyDifference::add(const ReplyDifference& more) {
  compared += more.compared;
  different += more.different;
  if (!first) first = more.first;
}

ReplyDifference compare_replies(std::span<const std::string> a, std::span<const std::string> b, const CommonTokens& common_tokens) {
  ReplyDifference result;
  result.compared = static_cast<uint32_t>(std::min(a.size(), b.size()));
  for (uint32_t i = 0; i < result.compared; ++i) {
    if (a[i] == b[i]) continue;
    ++result.different;
    if (result.first) continue;
    result.first = first_difference(a[i], b[i]);
    result.first->request = i;
    if (common_tokens) result.first->token = common_tokens(a[i], b[i]);
  }
  return result;
}

}  // namespace teapot::workbench
