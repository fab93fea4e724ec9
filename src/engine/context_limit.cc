#include "engine/context_limit.h"

#include <algorithm>

namespace teapot::engine {
namespace {

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

Result<ContextLimit> context_limit(uint32_t model_tokens, uint32_t requested, uint64_t room_bytes, uint32_t sequences,
                                   const std::function<uint64_t(uint32_t tokens)>& state_bytes) {
  if (requested != 0) {
    const uint32_t wanted = std::min(requested, model_tokens);
    if (state_bytes(wanted) > room_bytes) {
      return fail(ErrorKind::kMemory, "a context of {} tokens takes {:.0f} MiB; {:.0f} MiB are there for running sequences", wanted,
                  mib(state_bytes(wanted)), mib(room_bytes));
    }
    if (requested > model_tokens) return ContextLimit{wanted, fmt::format("the model's limit: {} were asked for", requested)};
    return ContextLimit{wanted, "as asked for"};
  }
  const auto fits = [&](uint32_t tokens) { return sequences * state_bytes(tokens) <= room_bytes; };
  if (fits(model_tokens)) return ContextLimit{model_tokens, "the model's limit"};
  uint32_t most = 0;
  for (uint32_t low = 1, high = model_tokens; low <= high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      most = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  if (most < 2) {
    return fail(ErrorKind::kMemory, "the states of {} sequence{} take {:.0f} MiB and more; {:.0f} MiB are there for running ones",
                sequences, sequences == 1 ? "" : "s", mib(sequences * state_bytes(2)), mib(room_bytes));
  }
  return ContextLimit{most,
                      fmt::format("what memory holds for {} sequence{} at a time: {:.0f} of {:.0f} MiB; the model's limit is {}", sequences,
                                  sequences == 1 ? "" : "s", mib(sequences * state_bytes(most)), mib(room_bytes), model_tokens)};
}

}  // namespace teapot::engine
