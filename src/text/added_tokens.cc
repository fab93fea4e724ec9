#include "text/added_tokens.h"

#include <algorithm>
#include <optional>

#include <utf8proc.h>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

// \w of the reference, which here is that of UTS 18: alphabetic, marks, decimal digits, connectors, joiners.
bool is_word(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  const bool joiner = code == 0x200C || code == 0x200D;
  const bool circled_letter = (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
                              (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
  return joiner || circled_letter;
}

bool ends_in_word(std::string_view text) { return !text.empty() && is_word(last_utf8(text)); }
bool begins_with_word(std::string_view text) { return !text.empty() && is_word(next_utf8(text).code); }

size_t white_space_at_end(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const char32_t last = last_utf8(text.substr(0, end));
    if (!contains(white_space(), last)) break;
    do --end;
    while ((static_cast<uint8_t>(text[end]) & 0xC0) == 0x80);
  }
  return text.size() - end;
}

size_t white_space_at_start(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const Utf8Step step = next_utf8(text.substr(length));
    if (!contains(white_space(), step.code)) break;
    length += step.length;
  }
  return length;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(const std::vector<AddedToken>& tokens) : lengths_(256) {
  for (const AddedToken& token : tokens) {
    tokens_.emplace(token.content, token);
    lengths_[static_cast<uint8_t>(token.content[0])].push_back(token.content.size());
  }
  for (auto& lengths : lengths_) {
    std::ranges::sort(lengths, std::greater<>{});
    lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
  }
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text) const {
  for (const size_t length : lengths_[static_cast<uint8_t>(text[0])]) {
    if (length > text.size()) continue;
    if (const auto token = tokens_.find(text.substr(0, length)); token != tokens_.end()) return &token->second;
  }
  return nullptr;
}

std::vector<AddedTokenMatcher::Part> AddedTokenMatcher::split(std::string_view text) const {
  std::vector<Part> parts;
  size_t done = 0;  // text before it is in parts
  for (size_t i = 0; !tokens_.empty() && i < text.size();) {
    const AddedToken* token = lengths_[static_cast<uint8_t>(text[i])].empty() ? nullptr : longest_at(text.substr(i));
    if (!token) {
      ++i;
      continue;
    }
    size_t start = i;
    size_t end = i + token->content.size();
    i = end;
    if (token->single_word && (ends_in_word(text.substr(0, start)) || begins_with_word(text.substr(end)))) continue;
    if (token->lstrip) start -= white_space_at_end(text.substr(done, start - done));
    if (token->rstrip) end += white_space_at_start(text.substr(end));
    if (start > done) parts.push_back({text.substr(done, start - done), nullptr});
    parts.push_back({text.substr(start, end - start), token});
    done = i = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
  return parts;
}

}  // namespace teapot::text
