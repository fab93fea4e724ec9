// Which rows the next step has, and the packet that says so. Nothing here runs anything.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/scheduler_options.h"
#include "engine/sequence.h"
#include "engine/step_cost.h"
#include "plan/backend.h"

namespace teapot::engine {

class StepBuilder {
 public:
  // All must outlive the builder.
  StepBuilder(const SchedulerOptions& options, const Vocabulary& vocabulary, const StepCost& cost);

  // Sets each sequence's `rows` and `first_result` and fills packet(): the next token of all that decode with their drafts, and pieces of
  // prompts, in the order of `sequences`. False: there is nothing to run.
  bool build(std::span<const std::unique_ptr<Sequence>> sequences);

  // About as many rows of prompts as build would find room for.
  uint32_t expected_prompt_rows(std::span<const std::unique_ptr<Sequence>> sequences) const;

  const plan::StepPacket& packet() const { return packet_; }
  uint32_t decode_rows() const { return decode_rows_; }
  uint32_t prefill_rows() const { return prefill_rows_; }

  // What a row of this sequence is asked for, if the token that comes after `ahead` more is to be sampled from it.
  plan::RowReturn wants(const Sequence& sequence, uint32_t ahead = 0) const;

 private:
  uint32_t prompt_rows();
  void choose_rows(std::span<const std::unique_ptr<Sequence>> sequences);
  void add(Sequence& sequence);
  void add_returns(Sequence& sequence);
  void ask(const Sequence& sequence, uint32_t row, uint32_t ahead);
  plan::BiasRange mask(const Sequence& sequence, uint32_t ahead);

  const SchedulerOptions& options_;
  const Vocabulary& vocabulary_;
  const StepCost& cost_;
  plan::StepPacket packet_;
  uint32_t decode_rows_ = 0, prefill_rows_ = 0, results_ = 0;
  uint32_t since_plain_ = 0;  // steps with rows of both kinds, one after the other
};

}  // namespace teapot::engine
