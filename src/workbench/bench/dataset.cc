#include "workbench/bench/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "workbench/bench/dataset_file.h"
#include "workbench/bench/prompt_length.h"
#include "workbench/bench/random_prompts.h"
#include "workbench/bench/request_body.h"

namespace teapot::workbench {
namespace {

constexpr std::array<std::string_view, 5> kDatasets = {"random", "openqa", "line_by_line", "gsm8k", "custom"};
constexpr uint32_t kAttempts = 64;

bool filters_lengths(const DatasetOptions& options) {
  return options.min_prompt_length > 0 || options.max_prompt_length != DatasetOptions{}.max_prompt_length;
}

Result<std::vector<Prompt>> random_prompts(const DatasetOptions& options, const engine::TextAssets* text, const BodyOptions& body,
                                           uint32_t count, uint32_t first) {
  TEAPOT_TRY(const RandomPrompts random, RandomPrompts::make(options, *text, body));
  std::vector<Prompt> prompts;
  std::set<std::string> seen;  // prompts of a word or two can meet
  for (uint32_t number = first; number < first + count; ++number) {
    for (uint32_t attempt = 0;; ++attempt) {
      TEAPOT_TRY(Prompt prompt, random.prompt(number, attempt));
      if (seen.insert(body.chat ? prompt.messages[0]["content"].get<std::string>() : prompt.text).second) {
        prompts.push_back(std::move(prompt));
        break;
      }
      if (attempt == kAttempts) {
        return fail(ErrorKind::kInvalid, "{} different prompts of {} tokens: there are not so many", count, prompt.tokens);
      }
    }
  }
  return prompts;
}

// Tokens are counted where there is a tokenizer; lengths are filtered as evalscope does it.
Result<std::vector<Prompt>> file_prompts(const DatasetOptions& options, const engine::TextAssets* text, const BodyOptions& body,
                                         uint32_t count, uint32_t first) {
  TEAPOT_TRY(std::vector<Prompt> all, read_dataset_file(options.dataset, *options.path, body));
  std::vector<Prompt> prompts;
  uint32_t fitting = 0;
  for (Prompt& prompt : all) {
    if (prompts.size() == count) break;
    if (text != nullptr) {
      auto tokens = count_prompt_tokens(*text, request_json(prompt, body));
      if (!tokens) return at(*options.path, std::move(tokens).error());
      prompt.tokens = *tokens;
      if (prompt.tokens < options.min_prompt_length || prompt.tokens > options.max_prompt_length) continue;
    }
    if (fitting++ >= first) prompts.push_back(std::move(prompt));
  }
  if (prompts.size() < count) {
    return fail(ErrorKind::kInvalid, "{}: found {} prompts{}; expected at least {}, so that none is sent twice", *options.path, fitting,
                filters_lengths(options) ? " of the lengths asked for" : "", uint64_t{first} + count);
  }
  return prompts;
}

}  // namespace

Status check_dataset(const DatasetOptions& options, bool has_tokenizer) {
  if (std::ranges::find(kDatasets, options.dataset) == kDatasets.end()) {
    return fail(ErrorKind::kUnsupported, "the dataset '{}' is not known; expected random, openqa, line_by_line, gsm8k or custom",
                options.dataset);
  }
  if (options.dataset == "random") {
    if (options.path) return fail(ErrorKind::kInvalid, "the dataset 'random' takes no file, found {}", *options.path);
    if (has_tokenizer) return {};
    return fail(ErrorKind::kInvalid, "the dataset 'random' needs the model's tokenizer and chat template: --tokenizer-path DIR");
  }
  if (!options.path) return fail(ErrorKind::kInvalid, "the dataset '{}' needs a file: --dataset-path", options.dataset);
  if (options.prefix_length != 0)
    return fail(ErrorKind::kInvalid, "--prefix-length is for the dataset 'random', found it with '{}'", options.dataset);
  if (filters_lengths(options) && !has_tokenizer) {
    return fail(ErrorKind::kInvalid, "--min-prompt-length and --max-prompt-length count tokens: they need --tokenizer-path DIR");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(*options.path, ignored)) return fail(ErrorKind::kNotFound, "{}: there is no such file", *options.path);
  return {};
}

Result<std::vector<Prompt>> make_prompts(const DatasetOptions& options, const engine::TextAssets* text, const BodyOptions& body,
                                         uint32_t count, uint32_t first) {
  TEAPOT_CHECK(check_dataset(options, text != nullptr));
  if (options.dataset == "random") return random_prompts(options, text, body, count, first);
  return file_prompts(options, text, body, count, first);
}

}  // namespace teapot::workbench
