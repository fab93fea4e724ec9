// For tests: runs tokens of one sequence at a time on a fake backend.
#pragma once

#include <map>
#include <span>

#include <gtest/gtest.h>

#include "engine/fake_backend.h"

namespace teapot::engine {

class FakeRunner {
 public:
  explicit FakeRunner(FakeBackend& backend) : backend_(backend) {}

  // What comes after them; -1, and a failed test, if the step did not run.
  int32_t run(plan::SlotId slot, std::span<const int32_t> tokens) {
    const auto rows = static_cast<uint32_t>(tokens.size());
    packet_.tokens.assign(tokens.begin(), tokens.end());
    packet_.sequences = {{.slot = slot, .first_row = 0, .rows = rows, .position = backend_.committed(slot)}};
    packet_.returns.assign(rows, plan::RowReturn::kNothing);
    packet_.returns.back() = plan::RowReturn::kArgmax;
    const Status status = backend_.run(plan_of(rows), packet_, result_);
    if (status) return result_.argmax.back();
    ADD_FAILURE() << status.error().message;
    return -1;
  }

  // A state after these tokens, with room for `more`.
  plan::SlotId state_of(std::span<const int32_t> tokens, uint32_t more = 0) {
    const auto slot = backend_.open_slot(static_cast<uint32_t>(tokens.size()) + more);
    EXPECT_TRUE(slot);
    run(*slot, tokens);
    return *slot;
  }

 private:
  plan::PlanId plan_of(uint32_t rows) {
    const auto [plan, is_new] = plans_.try_emplace(rows);
    if (is_new) plan->second = *backend_.prepare({.shape = {rows}, .buffers = {}, .ops = {}});
    return plan->second;
  }

  FakeBackend& backend_;
  std::map<uint32_t, plan::PlanId> plans_;
  plan::StepPacket packet_;
  plan::StepResult result_;
};

}  // namespace teapot::engine
