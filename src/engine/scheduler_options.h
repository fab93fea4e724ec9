// How the engine shares its steps and its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace teapot::engine {

// How greedy and top-k rows learn of ids that may not come out.
enum class LogitsMask : uint8_t {
  kRebuild,  // all their logits are handed out, changed and searched
  kInline    // the head is told the ids
};

// A draft, before it is verified.
struct Draft {
  uint64_t request;
  uint32_t choice;
  uint32_t position;  // where it would stand in its sequence
  uint32_t index;     // among the drafts of its step
  int32_t id;         // what the MTP layer says
};

struct SchedulerOptions {
  uint32_t max_seqs = 8;         // sequences in a step
  uint32_t prefill_chunk = 512;  // prompt tokens in a step
  double tpot_stretch = 2;       // a step with running sequences takes at most so many times the step without a prompt's piece; > 1, or inf
  bool prefix_cache = true;
  std::optional<uint64_t> cache_bytes = {};  // of the prefix cache; nothing: a quarter of the memory that is free after loading
  LogitsMask logits_mask = LogitsMask::kInline;

  uint32_t draft_limit = 0;                  // drafts of a sequence in a step that states have room for; 0: no speculation
  std::optional<uint32_t> draft_depth = {};  // so many, whatever it brings; nothing: as many as pay
  std::optional<uint32_t> draft_vocab = {};  // ids that drafts are chosen from, about; nothing: all
  // For measurements and tests: what is drafted instead. Depths are then decided without the drafts' own probabilities.
  std::function<int32_t(const Draft& draft)> replace_draft = {};
};

}  // namespace teapot::engine
