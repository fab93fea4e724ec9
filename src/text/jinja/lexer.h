// From a template's text to tokens, with Jinja's rules of white space: trim_blocks and lstrip_blocks are on, as for every chat
// template, and "-" and "+" at a tag override them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teapot::text::jinja {

enum class TokenType : uint8_t {
  kData,  // text to be put out as it is
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kText,  // a quoted text; Token::text has the quotes and escapes still
  kInteger,
  kReal,
  kOperator,
  kEnd,
};

struct Token {
  TokenType type;
  uint32_t offset;  // of its first byte in the source
  std::string_view text;
};

// What a template's text is for the lexer: line breaks are "\n", one at the very end is dropped. Ill-formed UTF-8 and texts of
// more than 16 MiB are syntax errors (by Failure).
std::string normalize_source(std::string_view source);

// The tokens view into source; the last one is kEnd.
std::vector<Token> tokenize(std::string_view source);

// The value of a kText token: without its quotes, with Python's escapes resolved.
std::string unquote(const Token& token);

// For error messages: "end of print statement", the operator itself, ...
std::string describe(const Token& token);

}  // namespace teapot::text::jinja
