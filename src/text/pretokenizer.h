// Cuts text into the pieces ("words") inside which BPE may merge: the matches of a regex, and what lies between them (spec 6.1).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

struct pcre2_real_code_8;

namespace teapot::text {

// The regex of a tokenizer that is known by name ("qwen2", "qwen35", "gpt2"), as in GGUF's tokenizer.ggml.pre.
std::optional<std::string_view> builtin_pattern(std::string_view name);

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
