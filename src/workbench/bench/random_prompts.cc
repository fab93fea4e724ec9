#include "workbench/bench/random_prompts.h"

#include <algorithm>

#include "engine/philox.h"
#include "text/utf8.h"
#include "workbench/bench/prompt_length.h"
#include "workbench/bench/request_body.h"

namespace teapot::workbench {
namespace {

constexpr size_t kLeastWords = 16;  // fewer are no random data
constexpr uint32_t kCorrections = 16;

// What the random numbers of one seed are for; attempts are further streams.
constexpr uint32_t kLengths = 0, kPrefix = 1, kWords = 2;

uint64_t random(uint64_t seed, uint32_t stream, uint32_t number, uint32_t position) {
  const auto bits =
      engine::philox4x32({position, number, stream, 0x70726f6d}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (uint64_t{bits[0]} << 32) | bits[1];
}

bool is_ascii_letter(unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// A space, then letters: pre-tokenizers part texts in front of the space, so that neighbours never merge.
bool is_word(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.front() != ' ' || text::find_ill_formed(bytes) != bytes.npos) return false;
  return std::ranges::all_of(bytes.substr(1), [](unsigned char c) { return is_ascii_letter(c) || c >= 0x80; });
}

Status check(const DatasetOptions& options) {
  if (options.min_prompt_length == 0 || options.min_prompt_length > options.max_prompt_length) {
    return fail(
        ErrorKind::kInvalid,
        "random prompts of {} to {} tokens; expected lengths from 1 on, the lower one first (--min-prompt-length, --max-prompt-length)",
        options.min_prompt_length, options.max_prompt_length);
  }
  constexpr uint32_t kMost = 16u << 20;
  if (options.max_prompt_length > kMost || options.prefix_length > kMost)
    return fail(ErrorKind::kInvalid, "random prompts of up to {} + {} tokens; expected at most {}", options.prefix_length,
                options.max_prompt_length, kMost);
  return {};
}

}  // namespace

Result<RandomPrompts> RandomPrompts::make(const DatasetOptions& options, const engine::TextAssets& text, const BodyOptions& body) {
  TEAPOT_CHECK(check(options));
  RandomPrompts prompts(options, text, body);
  const text::Tokenizer& tokenizer = text.tokenizer;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (!tokenizer.has_token(id) || tokenizer.is_special(id) || !is_word(tokenizer.bytes(id))) continue;
    // Some tokens of a vocabulary are never made from their own text.
    const auto ids = tokenizer.encode(tokenizer.bytes(id), /*parse_added=*/true);
    if (!ids || ids->size() != 1 || ids->front() != id) continue;
    prompts.words_.emplace_back(tokenizer.bytes(id));
    const std::string_view bare = tokenizer.bytes(id).substr(1);
    if (const auto first = tokenizer.encode(bare, /*parse_added=*/true); first && first->size() == 1) prompts.first_.emplace_back(bare);
  }
  const size_t least = std::min(prompts.words_.size(), prompts.first_.size());
  if (least < kLeastWords) {
    return fail(ErrorKind::kInvalid,
                "the tokenizer has {} tokens of letters, with and without a space in front; random prompts need at least {}", least,
                kLeastWords);
  }
  return prompts;
}

const std::string& RandomPrompts::word(uint32_t stream, uint32_t number, uint32_t position) const {
  const std::vector<std::string>& words = position == 0 ? first_ : words_;  // templates take away a space in front, or do not
  return words[random(options_.seed, stream, number, position) % words.size()];
}

std::string RandomPrompts::words(uint32_t number, uint32_t attempt, uint32_t count) const {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    text += i < options_.prefix_length ? word(kPrefix, 0, i) : word(kWords + attempt, number, i);
  }
  return text;
}

Result<Prompt> RandomPrompts::prompt(uint32_t number, uint32_t attempt) const {
  const uint32_t spread = options_.max_prompt_length - options_.min_prompt_length + 1;
  const uint32_t length =
      options_.prefix_length + options_.min_prompt_length + static_cast<uint32_t>(random(options_.seed, kLengths, number, 0) % spread);
  TEAPOT_TRY(const uint32_t around, count_prompt_tokens(text_, request_json(prompt_of("", body_), body_)));
  // How texts join the template around them is the tokenizer's to say.
  int64_t count = int64_t{length} - around;
  for (uint32_t i = 0; i < kCorrections && count > options_.prefix_length; ++i) {
    Prompt prompt = prompt_of(words(number, attempt, static_cast<uint32_t>(count)), body_);
    TEAPOT_TRY(prompt.tokens, count_prompt_tokens(text_, request_json(prompt, body_)));
    if (prompt.tokens == length) return prompt;
    count += int64_t{length} - prompt.tokens;
  }
  return fail(ErrorKind::kInvalid, "no random prompt of {} tokens: the chat template alone has {}, the shared prefix {}", length, around,
              options_.prefix_length);
}

}  // namespace teapot::workbench
