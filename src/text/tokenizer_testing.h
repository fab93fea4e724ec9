// What the tests of the tokenizer share: the small tokenizer of the tests' data, and golden cases.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "test_data.h"
#include "text/tokenizer_json.h"

namespace teapot::text {

inline std::vector<Json> read_json_lines(const std::filesystem::path& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line, path.string()).value());
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

inline std::string small_tokenizer_path(const std::string& name = "tokenizer.json") {
  return testing::test_data("text/small_tokenizer/" + name).string();
}

inline Tokenizer small_tokenizer() { return load_tokenizer_json(small_tokenizer_path()).value(); }

// A byte-level vocabulary of the 256 bytes alone (id = byte), to which tests add.
inline TokenizerParts byte_parts() {
  TokenizerParts parts;
  parts.source = "test";
  parts.pattern = kQwen35Pattern;
  parts.nfc = true;
  const std::vector<std::pair<int, int>> printable = {{33, 126}, {161, 172}, {174, 255}};
  std::vector<int> character(256, -1);
  for (const auto& [first, last] : printable) {
    for (int b = first; b <= last; ++b) character[b] = b;
  }
  int spare = 256;
  for (int b = 0; b < 256; ++b) {
    const int code = character[b] >= 0 ? character[b] : spare++;
    std::string token;
    if (code >= 0x80) token += static_cast<char>(0xC0 | code >> 6);
    token += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3F) : code);
    parts.vocab.emplace_back(token, b);
  }
  return parts;
}

// Each line: text -> ids, and ids_plain (without looking for added tokens) where that differs.
inline void expect_golden_ids(const Tokenizer& tokenizer, const std::filesystem::path& path) {
  for (const Json& line : read_json_lines(path)) {
    const auto text = line.at("text").get<std::string>();
    const auto ids = line.at("ids").get<std::vector<int32_t>>();
    const auto encoded = tokenizer.encode(text, true);
    ASSERT_TRUE(encoded) << encoded.error().message;
    EXPECT_EQ(*encoded, ids) << line.at("note") << ": " << line.at("text").dump().substr(0, 200);
    if (line.contains("ids_plain")) {
      EXPECT_EQ(tokenizer.encode(text, false).value(), line["ids_plain"].get<std::vector<int32_t>>())
          << line.at("text").dump().substr(0, 200);
    }
  }
}

}  // namespace teapot::text
