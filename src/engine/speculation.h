// Drafts: guesses at what the running sequences say next, made by the MTP layer before a step and verified by it (spec 4). Decode thread
// only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/confidence.h"
#include "engine/draft_depth.h"
#include "engine/draft_gain.h"
#include "engine/draft_vocab.h"
#include "engine/observer.h"
#include "engine/plan_cache.h"
#include "engine/scheduler_options.h"
#include "engine/sequence.h"
#include "engine/step_cost.h"
#include "engine/step_recorder.h"

namespace teapot::engine {

class Speculation {
 public:
  // All must outlive it. cost: of the model's steps by their rows.
  struct Place {
    plan::Backend& backend;
    PlanCache& plans;
    const Vocabulary& vocabulary;
    const StepCost& cost;
    StepRecorder& recorder;
  };
  Speculation(const Place& place, const SchedulerOptions& options);

  bool on() const { return options_.draft_limit > 0; }

  // A sequence begins to decode, and ends.
  void begin(Sequence& sequence);
  void end(const Sequence& sequence);

  // Sets the drafts of all sequences for the step that comes, beside which a prompt is going to have so many rows. An error leaves the
  // states unusable of those for which `in_step(sequence)`.
  Status draft(std::span<const std::unique_ptr<Sequence>> sequences, uint32_t prompt_rows);

  // What the step of this packet is, with the MTP layer where that needs it. An error as above.
  Result<plan::PlanKind> prepare(std::span<const std::unique_ptr<Sequence>> sequences, const plan::StepPacket& packet);

  bool in_step(const Sequence& sequence) const { return std::ranges::find(in_step_, &sequence) != in_step_.end(); }

  // Of the drafts of a sequence's last step so many were looked at, of which the first `accepted` hold; more may have been made.
  void verified(Sequence& sequence, uint32_t judged, uint32_t accepted);
  // A step without rows of prompts has ended, with its drafts made before it: tokens of so many sequences.
  void ended(uint32_t tokens, uint32_t sequences, double ms);
  // A token was sampled.
  void sampled(int32_t id) {
    if (on()) vocab_.saw(id);
  }

  // Of the round since draft().
  const DraftRecord& record() const { return record_; }

  // Draft steps by their sequences.
  StepCost& cost() { return draft_cost_; }
  const DraftVocab& vocab() const { return vocab_; }

 private:
  struct Chain {
    Sequence* sequence;
    uint32_t depth;
    bool chosen;    // its depth is what pays: it may end before
    double chance;  // that all its drafts hold
  };

  uint32_t limit(const Sequence& sequence) const;
  std::optional<uint32_t> fixed(const Sequence& sequence) const;
  uint32_t lag(const Sequence& sequence) const;
  void choose(std::span<const std::unique_ptr<Sequence>> sequences, uint32_t prompt_rows);
  void probe();
  Status extend(uint32_t drafts);
  void take(Chain& chain, uint32_t result, uint32_t drafting);
  void drop_what_does_not_pay();
  Status catch_up(std::span<Sequence* const> sequences);
  Status run(plan::PlanKind kind);

  plan::Backend& backend_;
  PlanCache& plans_;
  const Vocabulary& vocabulary_;
  const StepCost& cost_;
  StepRecorder& recorder_;
  const SchedulerOptions& options_;

  StepCost draft_cost_;
  double catch_up_ms_ = 0;  // of late
  Acceptance acceptance_;   // of all sequences
  Confidence confidence_;
  DraftDepth depth_;
  std::vector<DraftGain> gains_;  // [sequences that decode]
  DraftProbe probe_;              // where nobody drafts
  uint32_t turn_ = 0;
  const Sequence* probing_ = nullptr;  // for all
  DraftVocab vocab_;

  plan::StepPacket packet_;
  plan::StepResult result_;
  DraftRecord record_;
  std::vector<Chain> chains_;
  std::vector<DraftingSequence> deciding_;
  std::vector<Sequence*> lagging_;
  std::vector<const Sequence*> in_step_;
  uint32_t model_rows_ = 0;  // of the step that comes, drafts among them
  bool ordered_ = false;     // somebody drafts in any case: there is no round without to compare with
};

}  // namespace teapot::engine
