// Rounds of sequences whose drafts hold by chance, on a clock of made-up costs: what a choice of depths is worth.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/acceptance.h"
#include "engine/draft_depth.h"
#include "engine/draft_probe.h"
#include "engine/philox.h"
#include "engine/step_cost.h"

namespace teapot::engine {

struct SimulatedCosts {
  SimulatedCosts(uint32_t count, const std::function<double(uint32_t)>& step_ms, const std::function<double(uint32_t)>& draft_ms)
      : sequences(count), step(count * (1 + kMaxDrafts)), draft(count) {
    for (const uint32_t rows : step.nodes()) step.observe(rows, step_ms(rows));
    for (const uint32_t rows : draft.nodes()) draft.observe(rows, draft_ms(rows));
  }

  uint32_t sequences;
  StepCost step, draft;
};

// That a draft for position 1, 2, ... of a round holds after so many tokens of the reply.
using SimulatedChance = std::function<double(uint32_t position, uint32_t token)>;

// ms for a token, until all have made `tokens` each on average. Luck belongs to the token: it is the same for each way to choose depths.
inline double simulate(const SimulatedCosts& costs, const SimulatedChance& chance, uint32_t tokens, uint64_t seed,
                       std::optional<uint32_t> fixed = {}) {
  struct Sequence {
    Acceptance acceptance;
    DraftProbe probe;
    uint32_t made = 0;
  };
  Acceptance shared;
  std::vector<Sequence> sequences(costs.sequences, {Acceptance(&shared), {}});
  std::vector<DraftingSequence> drafting(costs.sequences);
  DraftDepth depth(costs.step, costs.draft, costs.sequences);
  uint32_t made = 0;
  double ms = 0;
  while (made < tokens * costs.sequences) {
    for (uint32_t i = 0; i < costs.sequences; ++i) drafting[i] = {.limit = 4, .lags = false, .chances = sequences[i].acceptance.chances()};
    const auto chosen = depth.choose(drafting, costs.sequences, 0);
    uint32_t rows = costs.sequences;
    std::vector<uint32_t> together(kMaxDrafts);
    for (uint32_t i = 0; i < costs.sequences; ++i) {
      Sequence& sequence = sequences[i];
      const uint32_t drafts = fixed ? *fixed : sequence.probe.depth(chosen[i], 4);
      rows += drafts;
      for (uint32_t j = 0; j < drafts; ++j) ++together[j];
      uint32_t held = 0;
      while (held < drafts && uniform(seed, sequence.made + held, i) < chance(held + 1, sequence.made)) ++held;
      if (drafts > 0) {
        sequence.acceptance.observe(drafts, held);
        sequence.probe.observe(held > 0);
      }
      sequence.made += held + 1;
      made += held + 1;
    }
    ms += costs.step.ms(rows);
    for (const uint32_t count : together) ms += count > 0 ? costs.draft.ms(count) : 0;
  }
  return ms / made;
}

}  // namespace teapot::engine
