#include "engine/draft_depth.h"

#include <algorithm>

namespace teapot::engine {
namespace {

constexpr double kMargin = 1.04;  // costs and chances are measured, and the best of many is overrated: a smaller gain may be none

}  // namespace

DraftDepth::DraftDepth(const StepCost& step, const StepCost& draft, uint32_t max_sequences) : step_(step), draft_(draft) {
  depths_.reserve(max_sequences);
  tried_.reserve(max_sequences);
  next_.reserve(max_sequences);
}

void DraftDepth::offer(std::span<const DraftingSequence> sequences, uint32_t sequence, double chance) {
  const auto& [limit, lags, chances] = sequences[sequence];
  const uint32_t depth = tried_[sequence];
  if (depth == limit) return;
  next_.push_back({chance * chances[depth], sequence});
  std::ranges::push_heap(next_, {}, &Next::chance);
}

std::span<const uint32_t> DraftDepth::choose(std::span<const DraftingSequence> sequences, uint32_t base_rows, double catch_up_ms) {
  depths_.assign(sequences.size(), 0);
  next_.clear();
  tried_.assign(sequences.size(), 0);
  for (uint32_t i = 0; i < sequences.size(); ++i) offer(sequences, i, 1);

  std::array<uint32_t, kMaxDrafts> drafting = {};  // sequences of each draft step
  bool caught_up = false;
  double tokens = static_cast<double>(sequences.size());
  double drafts_ms = 0;
  rate_ = tokens / step_.ms(base_rows);
  double best = rate_ * kMargin;
  for (uint32_t rows = base_rows + 1; !next_.empty(); ++rows) {
    std::ranges::pop_heap(next_, {}, &Next::chance);
    const auto [chance, sequence] = next_.back();
    next_.pop_back();
    uint32_t& together = drafting[tried_[sequence]++];
    drafts_ms += draft_.ms(together + 1) - (together > 0 ? draft_.ms(together) : 0);
    ++together;
    if (sequences[sequence].lags && !caught_up) {
      drafts_ms += catch_up_ms;
      caught_up = true;
    }
    tokens += chance;
    // One more row may not pay where two do: the search goes on past what is worse.
    if (const double rate = tokens / (step_.ms(rows) + drafts_ms); rate > best) {
      rate_ = best = rate;
      depths_ = tried_;
    }
    offer(sequences, sequence, chance);
  }
  return depths_;
}

// A sequence pays its share of the draft step, not only what it adds: or a step would be made that is worth it for nobody.
bool DraftDepth::next_pays(double chance, uint32_t drafting, uint32_t rows) const {
  return chance >= rate_ * (draft_.ms(drafting) / drafting + row_ms(rows));
}

bool DraftDepth::row_pays(double chance, uint32_t rows) const { return chance >= rate_ * row_ms(rows); }

}  // namespace teapot::engine
