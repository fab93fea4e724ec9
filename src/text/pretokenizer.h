// Cuts text into the pieces ("words") inside which BPE may merge: the matches of a regex, and what lies between them (spec 6.1).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

struct pcre2_real_code_8;

namespace teapot::text {

// The regexes of files that name theirs instead of giving it: GGUF's tokenizer.ggml.pre, vocab.json, a lone ByteLevel.
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Immutable; safe to use from several threads at once.
class Pretokenizer {
 public:
  // pattern is as the checkpoint has it, in Oniguruma's syntax. Broken: kInvalid; beyond what to_pcre2 knows: kUnsupported.
  static Result<Pretokenizer> compile(std::string_view pattern);

  // Pieces of text, in order; together they are text. text must be well-formed UTF-8 of less than 2 GiB.
  // A pattern that backtracks without end: kInvalid.
  Result<std::vector<std::string_view>> split(std::string_view text) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };

  Pretokenizer() = default;

  std::unique_ptr<pcre2_real_code_8, Free> code_;
  bool jit_ = false;
};

}  // namespace teapot::text
