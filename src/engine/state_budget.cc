#include "engine/state_budget.h"

#include <algorithm>

namespace teapot::engine {
namespace {

// Left alone for scratch buffers, replies, the page cache of other programs.
constexpr uint64_t kMargin = uint64_t{256} << 20;

}  // namespace

Result<StateBudget> state_budget(const MemoryStatus& memory, bool prefix_cache, std::optional<uint64_t> cache_bytes) {
  const uint64_t margin = std::max(kMargin, memory.available_bytes / 10);
  const uint64_t usable = memory.available_bytes - std::min(margin, memory.available_bytes);
  const uint64_t cache = prefix_cache ? cache_bytes.value_or(std::min(memory.available_bytes / 4, usable)) : 0;
  if (cache > usable) {
    return fail(ErrorKind::kMemory, "a prefix cache of {} bytes was asked for; {} are available ({}), of which {} may be used", cache,
                memory.available_bytes, memory.limited_by, usable);
  }
  return StateBudget{.running = usable - cache, .cache = cache};
}

}  // namespace teapot::engine
