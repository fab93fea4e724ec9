// Prompts of random words that have exactly so many tokens, whatever chat template stands around them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/bench/dataset.h"

namespace teapot::workbench {

class RandomPrompts {
 public:
  // text must outlive it. kInvalid: lengths that contradict each other, or a vocabulary without words.
  static Result<RandomPrompts> make(const DatasetOptions& options, const engine::TextAssets& text, const BodyOptions& body);

  // A function of the seed, the number and the attempt alone: another attempt is another prompt of the same length. kInvalid where the
  // template alone is longer than what is asked for.
  Result<Prompt> prompt(uint32_t number, uint32_t attempt = 0) const;

  size_t words() const { return words_.size(); }

 private:
  RandomPrompts(const DatasetOptions& options, const engine::TextAssets& text, const BodyOptions& body)
      : options_(options), text_(text), body_(body) {}

  // Which of the words stands at `position`.
  const std::string& word(uint32_t stream, uint32_t number, uint32_t position) const;
  std::string words(uint32_t number, uint32_t attempt, uint32_t count) const;

  DatasetOptions options_;
  const engine::TextAssets& text_;
  BodyOptions body_;
  std::vector<std::string> words_;  // " word": each one token, alone and among others
  std::vector<std::string> first_;  // "word": those that are one token without their space, too; a text begins with one
};

}  // namespace teapot::workbench
