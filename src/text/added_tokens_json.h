// Added tokens as tokenizer.json (a list) and tokenizer_config.json (added_tokens_decoder, an object by id) write them.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/added_tokens.h"

namespace teapot::text {

// All but the id. Flags that are missing are false. `where` begins each error's message.
Result<AddedToken> read_added_token(const nlohmann::json& object, const std::string& where);

Result<int64_t> read_added_token_id(const nlohmann::json& object, const std::string& where);

}  // namespace teapot::text
