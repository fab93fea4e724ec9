#include "workbench/tune/shell_words.h"

#include <algorithm>

namespace teapot::workbench {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;  // a word has begun, be it empty
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = i + 1 == text.size();
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\') {
      if (last) return fail(ErrorKind::kInvalid, "nothing after the last backslash: {}", text);
      const char next = text[++i];
      if (quote == '"' && std::string_view("\"\\$`").find(next) == std::string_view::npos) word += '\\';
      word += next;
      any = true;
    } else if (quote == '"') {
      if (c == '"') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      any = true;
    } else if (kBlank.find(c) != kBlank.npos) {
      if (any) words.push_back(std::exchange(word, ""));
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (quote != 0) return fail(ErrorKind::kInvalid, "a quote {} that does not end: {}", quote, text);
  if (any) words.push_back(std::move(word));
  return words;
}

std::string quote_word(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,@%+").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace teapot::workbench
