// Reads tokenizer.json and vocab.json in one pass. Their vocabulary and merges have hundreds of thousands of entries: these go
// straight into lists, whose keys are in the file's order and not yet checked for doubles; everything else becomes a small DOM.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace teapot::text {

struct VocabJson {
  nlohmann::json rest;  // tokenizer.json without /model/vocab and /model/merges
  bool has_vocab = false;
  bool has_merges = false;
  std::vector<std::pair<std::string, int64_t>> vocab;
  std::vector<std::pair<std::string, std::string>> merges;
};

// source names the file in errors. Merges may be "left right" or [left, right].
Result<VocabJson> parse_tokenizer_json_text(std::string_view text, std::string_view source);

// vocab.json: one object of token -> id.
Result<VocabJson> parse_vocab_json_text(std::string_view text, std::string_view source);

// "left right" -> (left, right). kInvalid if there is not exactly one space between two texts.
Result<std::pair<std::string, std::string>> parse_merge(std::string_view merge);

}  // namespace teapot::text
