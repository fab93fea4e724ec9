// Decode steps of sequences that go on and on, all drafts accepted: what profiles look at.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "engine/open_slots.h"
#include "engine/plan_cache.h"
#include "engine/step_recorder.h"

namespace teapot::workbench {

struct DecodeLoad {
  uint32_t sequences = 1;  // of a step
  uint32_t prompt = 64;    // tokens of each sequence before it
  uint32_t drafts = 0;     // of each sequence in a step, verified beside its last token; all hold. The model must have room for them
};

class DecodeLoop {
 public:
  static constexpr uint32_t kWarmupSteps = 3;

  // Reads the prompts and runs the first steps. model: loaded into the backend; both outlive the loop. The thread that calls runs the
  // steps. kMemory where the states of so many steps do not fit.
  static Result<std::unique_ptr<DecodeLoop>> create(const model::Model& model, plan::Backend& backend, const DecodeLoad& load,
                                                    uint32_t steps);

  Status step(engine::StepRecorder& recorder);

 private:
  DecodeLoop(const model::Model& model, plan::Backend& backend, const DecodeLoad& load);
  Status open(uint32_t steps);
  Status prefill();

  const model::Model& model_;
  plan::Backend& backend_;
  DecodeLoad load_;
  engine::PlanCache plans_;
  engine::OpenSlots slots_;
  plan::PlanId plan_{};
  plan::StepPacket packet_;
  plan::StepResult result_;
};

}  // namespace teapot::workbench
