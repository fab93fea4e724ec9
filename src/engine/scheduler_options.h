// How the engine shares its steps and its memory.
#pragma once

#include <cstdint>
#include <optional>

namespace teapot::engine {

// How greedy and top-k rows learn of ids that may not come out.
enum class LogitsMask : uint8_t {
  kRebuild,  // all their logits are handed out, changed and searched
  kInline    // the head is told the ids
};

struct SchedulerOptions {
  uint32_t max_seqs = 8;         // sequences in a step
  uint32_t prefill_chunk = 512;  // prompt tokens in a step
  double tpot_stretch = 2;       // a step with running sequences takes at most so many times the step without a prompt's piece; > 1, or inf
  bool prefix_cache = true;
  std::optional<uint64_t> cache_bytes = {};  // of the prefix cache; nothing: a quarter of the memory that is free after loading
  LogitsMask logits_mask = LogitsMask::kInline;
};

}  // namespace teapot::engine
