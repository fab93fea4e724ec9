// Memory for the states of sequences: how much there is, and how much of it keeps prefixes.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "base/memory.h"

namespace teapot::engine {

struct StateBudget {
  uint64_t running = 0;  // what running sequences may come to, sharing nothing
  uint64_t cache = 0;    // of the prefix cache
};

// memory: what is left when the weights are loaded. cache_bytes: as asked for; nothing: a quarter of it. kMemory, with the numbers, when
// so much is not there.
Result<StateBudget> state_budget(const MemoryStatus& memory, bool prefix_cache, std::optional<uint64_t> cache_bytes);

}  // namespace teapot::engine
