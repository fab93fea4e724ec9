// How deep each sequence drafts in a round: as deep as makes the most tokens for its time. Decode thread only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/acceptance.h"
#include "engine/step_cost.h"

namespace teapot::engine {

// A sequence that decodes in the round.
struct DraftingSequence {
  uint32_t limit;  // of its drafts, up to kMaxDrafts; 0: it cannot draft
  bool lags;       // its MTP layer must catch up first
  DraftChances chances;
};

class DraftDepth {
 public:
  // step: a step of the model by its rows; draft: a draft step by its sequences.
  DraftDepth(const StepCost& step, const StepCost& draft, uint32_t max_sequences);

  // The depth of each sequence; valid until the next call. base_rows: of the step without drafts, a prompt's among them. catch_up_ms: what
  // it takes to make all catch up that lag, if one of them drafts.
  std::span<const uint32_t> choose(std::span<const DraftingSequence> sequences, uint32_t base_rows, double catch_up_ms);

  // While the round drafts, with `chance` for all drafts of a sequence to hold: does one more pay, in a draft step of `drafting`
  // sequences? And does one that is there pay its row, in a step that has `rows` without it? To be asked by whoever drafts because choose
  // said so: not of a probe.
  bool next_pays(double chance, uint32_t drafting, uint32_t rows) const;
  bool row_pays(double chance, uint32_t rows) const;

 private:
  // The next draft of a sequence, and how likely it is to hold.
  struct Next {
    double chance;
    uint32_t sequence;
  };

  void offer(std::span<const DraftingSequence> sequences, uint32_t sequence, double chance);
  double row_ms(uint32_t rows) const { return step_.ms(rows + 1) - step_.ms(rows); }

  const StepCost& step_;
  const StepCost& draft_;
  double rate_ = 0;  // tokens for a ms that the round was chosen to bring
  std::vector<uint32_t> depths_;
  std::vector<uint32_t> tried_;  // depths so far
  std::vector<Next> next_;       // a heap by chance
};

}  // namespace teapot::engine
