// Whether two servers wrote the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace teapot::workbench {

struct FirstDifference {
  uint32_t request = 0;           // of the load
  uint32_t character = 0;         // Unicode characters that are equal before it
  std::optional<uint32_t> token;  // tokens that are equal before it, where a tokenizer is there
  std::string a, b;               // what follows on each side, some characters of it; empty where that reply ends
};

struct ReplyDifference {
  uint32_t compared = 0, different = 0;
  std::optional<FirstDifference> first;  // of the first request that differs

  void add(const ReplyDifference& more);  // keeps the first of both
};

// Tokens that are equal at the beginning of both.
using CommonTokens = std::function<std::optional<uint32_t>(const std::string& a, const std::string& b)>;

// a[i] with b[i]; replies without a partner are not compared. common_tokens may be empty.
ReplyDifference compare_replies(std::span<const std::string> a, std::span<const std::string> b, const CommonTokens& common_tokens);

}  // namespace teapot::workbench
