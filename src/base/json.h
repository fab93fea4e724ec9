// JSON by nlohmann-json, read with limits: outside bytes may nest only so deep, and errors carry the source's name.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace teapot {

using Json = nlohmann::ordered_json;  // keeps the order of keys: prompts and tool schemas depend on it

struct JsonLimits {
  int max_depth = 256;
  size_t max_keys = 10'000;            // of one object: each is looked for among the others, in time that grows with their square
  bool refuse_duplicate_keys = false;  // else the last one counts, as in most parsers
};

// source names the text in errors ("config.json", "request body"). Strings must be UTF-8.
Result<Json> parse_json(std::string_view text, std::string_view source, JsonLimits limits = {});

// Reads a whole file first. Missing file: kNotFound.
Result<Json> read_json_file(const std::string& path, JsonLimits limits = {});

// Compact text; invalid UTF-8 becomes U+FFFD, non-ASCII stays as it is.
std::string dump_json(const Json& json);

}  // namespace teapot
