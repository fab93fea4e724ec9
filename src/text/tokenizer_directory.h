// A checkpoint's tokenizer from the files in its directory.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace teapot::text {

// From tokenizer.json; without it from vocab.json and merges.txt, in which case the regex is `pretokenize_regex` of
// tokenizer_config.json, or that of config.json's model_type, or that of the config's tokenizer_class.
// tokenizer_config.json, if there, names the eos token and may add tokens (added_tokens_decoder). No files: kNotFound.
Result<Tokenizer> load_tokenizer_directory(const std::string& directory);

// merges.txt: a merge a line; a first line "#version: ..." does not count.
Result<std::vector<std::pair<std::string, std::string>>> parse_merges_txt(std::string_view text, std::string_view source);

}  // namespace teapot::text
