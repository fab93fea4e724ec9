#include "engine/context_limit.h"

#include <algorithm>

namespace teapot::engine {
namespace {

// Left alone for scratch buffers, replies, the page cache of other programs.
constexpr uint64_t kMargin = uint64_t{256} << 20;

uint64_t budget(const MemoryStatus& memory) {
  const uint64_t margin = std::max(kMargin, memory.available_bytes / 10);
  return memory.available_bytes > margin ? memory.available_bytes - margin : 0;
}

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

Result<ContextLimit> context_limit(uint32_t model_tokens, uint32_t requested, const MemoryStatus& memory,
                                   const std::function<uint64_t(uint32_t tokens)>& state_bytes) {
  const uint64_t room = budget(memory);
  const uint32_t wanted = requested == 0 ? model_tokens : std::min(requested, model_tokens);
  if (state_bytes(wanted) <= room) {
    if (requested == 0) return ContextLimit{wanted, "the model's limit"};
    if (requested > model_tokens) return ContextLimit{wanted, fmt::format("the model's limit: {} were asked for", requested)};
    return ContextLimit{wanted, "as asked for"};
  }
  if (requested != 0) {
    return fail(ErrorKind::kMemory, "a context of {} tokens takes {:.0f} MiB; {:.0f} MiB are available ({}), of which {:.0f} may be used",
                wanted, mib(state_bytes(wanted)), mib(memory.available_bytes), memory.limited_by, mib(room));
  }
  uint32_t fits = 0;
  for (uint32_t low = 1, high = wanted; low <= high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (state_bytes(middle) <= room) {
      fits = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  if (fits < 2) {
    return fail(ErrorKind::kMemory,
                "the state of a sequence takes {:.0f} MiB and more; {:.0f} MiB are available ({}), of which {:.0f} may be used",
                mib(state_bytes(2)), mib(memory.available_bytes), memory.limited_by, mib(room));
  }
  return ContextLimit{fits, fmt::format("what fits in memory: {:.0f} of {:.0f} MiB available ({}); the model's limit is {}",
                                        mib(state_bytes(fits)), mib(memory.available_bytes), memory.limited_by, model_tokens)};
}

}  // namespace teapot::engine
