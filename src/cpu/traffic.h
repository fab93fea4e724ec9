// The traffic of a step that ran, from its plan and what its packet and its routers decided.
#pragma once

#include <span>
#include <vector>

#include "cpu/ops/binder.h"
#include "plan/traffic.h"

namespace teapot::cpu {

struct StateTypes {
  KvType kv;
  bool bf16_recurrent;
};

struct StepFacts {
  std::span<const plan::SequenceRows> sequences;
  std::span<const uint32_t> pending;  // [sequences]: tokens that the recurrent state lacked
  size_t rows;
  size_t asked;                               // rows that the head was asked something of
  size_t head_rows;                           // of its matrix that answered
  std::span<const uint32_t> touched_experts;  // [ops of the plan]: distinct experts of a Moe, else 0
};

// Replaces `out`. Allocates nothing once `out` has seen a plan as long.
void count_traffic(const plan::Plan& plan, const Binder::Environment& environment, StateTypes types, const StepFacts& facts,
                   std::vector<plan::OpTraffic>& out);

}  // namespace teapot::cpu
