// Rounds of sequences whose drafts hold by chance, on a clock of made-up costs: what a choice of depths is worth.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/acceptance.h"
#include "engine/draft_depth.h"
#include "engine/draft_gain.h"
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

// How many times as long all takes on this host at this time; a step of the model has noise of its own besides.
using SimulatedHost = std::function<double(double ms)>;

// ms for a token, until all have made `tokens` each on average. Luck belongs to the token: it is the same for each way to choose depths.
// host: costs are learned from what steps take there, and gains are watched; nothing: they are known, and stay what they are.
inline double simulate(const SimulatedCosts& costs, const SimulatedChance& chance, uint32_t tokens, uint64_t seed,
                       std::optional<uint32_t> fixed = {}, const SimulatedHost& host = {}) {
  struct Sequence {
    Acceptance acceptance;
    DraftProbe probe;
    uint32_t made = 0;
  };
  Acceptance shared;
  std::vector<Sequence> sequences(costs.sequences, {Acceptance(&shared), {}});
  std::vector<DraftingSequence> drafting(costs.sequences);
  StepCost step = costs.step, draft = costs.draft;
  DraftDepth depth(step, draft, costs.sequences);
  DraftGain gain;
  uint32_t round = 0;
  uint32_t made = 0;
  double ms = 0;
  while (made < tokens * costs.sequences) {
    const uint32_t limit = host && gain.rests() ? 0 : 4;
    for (uint32_t i = 0; i < costs.sequences; ++i) drafting[i] = {limit, false, sequences[i].acceptance.chances()};
    const auto chosen = depth.choose(drafting, costs.sequences, 0);
    uint32_t rows = costs.sequences;
    const uint32_t before = made;
    std::vector<uint32_t> together(kMaxDrafts);
    for (uint32_t i = 0; i < costs.sequences; ++i) {
      Sequence& sequence = sequences[i];
      const uint32_t drafts = fixed ? *fixed : sequence.probe.depth(chosen[i], limit);
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
    const double speed = host ? host(ms) : 1;
    const double step_ms = costs.step.ms(rows) * speed * (host ? 0.95 + 0.1 * uniform(seed, round++, 99) : 1);
    double drafts_ms = 0;
    for (const uint32_t count : together) {
      if (count == 0) continue;
      const double draft_ms = costs.draft.ms(count) * speed;
      drafts_ms += draft_ms;
      if (host) draft.observe(count, draft_ms);
    }
    ms += step_ms + drafts_ms;
    if (!host) continue;
    step.observe(rows, step_ms);
    if (rows == costs.sequences) {
      gain.plain(step_ms);
    } else {
      gain.drafted(static_cast<double>(made - before) / costs.sequences, step_ms + drafts_ms);
    }
  }
  return ms / made;
}

}  // namespace teapot::engine
