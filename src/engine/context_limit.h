// How many tokens a sequence may have: the smallest of what the model was made for, what was asked for, and what memory holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"

namespace teapot::engine {

struct ContextLimit {
  uint32_t tokens;
  std::string reason;  // which of the three it is, with the numbers
};

// requested 0: none was asked for, and `sequences` of the limit's length are to fit in room_bytes together. What was asked for must fit
// once, else it is kMemory: the limit that is printed must be one that can be kept. state_bytes(tokens): of a sequence, rising.
Result<ContextLimit> context_limit(uint32_t model_tokens, uint32_t requested, uint64_t room_bytes, uint32_t sequences,
                                   const std::function<uint64_t(uint32_t tokens)>& state_bytes);

}  // namespace teapot::engine
