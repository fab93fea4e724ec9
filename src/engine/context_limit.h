// How many tokens a sequence may have: the smallest of what the model was made for, what was asked for, and what memory holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/memory.h"

namespace teapot::engine {

struct ContextLimit {
  uint32_t tokens;
  std::string reason;  // which of the three it is, with the numbers
};

// requested 0: none was asked for. state_bytes(tokens): what the state of a sequence takes, rising. A request that memory does not
// hold is kMemory: the limit that is printed must be one that can be kept.
Result<ContextLimit> context_limit(uint32_t model_tokens, uint32_t requested, const MemoryStatus& memory,
                                   const std::function<uint64_t(uint32_t tokens)>& state_bytes);

}  // namespace teapot::engine
