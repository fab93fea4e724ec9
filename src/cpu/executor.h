// Prepares plans and runs them: everything that does not change from step to step is decided in prepare(); run() only computes.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "cpu/ops/ops.h"
#include "plan/traffic.h"

namespace teapot::cpu {

class Executor {
 public:
  struct Settings {
    KvType kv_type;
    Pages pages;
  };

  // All references must outlive the executor.
  Executor(const Binder::Environment& environment, ThreadTeam& team, const Settings& settings)
      : environment_(environment), team_(team), settings_(settings) {}

  // kInternal when the plan does not fit the weights (plan/check.h), kMemory when its scratch does not fit, with both numbers.
  Result<plan::PlanId> prepare(const plan::Plan& plan);

  // Whether the packet has the plan's shape and asks for what the plan computes; states and positions are the backend's to check.
  Status check(plan::PlanId id, const plan::StepPacket& packet) const;

  // states: of packet.sequences, with room for their rows. Allocates nothing, but for taps and until `result` has seen a step as big.
  Status run(plan::PlanId id, const plan::StepPacket& packet, std::span<SequenceState* const> states, plan::StepResult& result);

  // Of the last step; empty before the first.
  void traffic(std::vector<plan::OpTraffic>& out) const;

  uint64_t saturated() const { return saturated_.load(std::memory_order_relaxed); }  // values that did not fit an f16 KV cache

 private:
  struct Prepared {
    plan::StepShape shape;
    plan::Plan source;
    std::vector<BoundOp> ops;
    std::vector<ScratchRows<float>> padded;
    size_t token_limit;  // rows of the embedding table
    size_t vocab;        // of the head; 0: the plan has none
  };

  // One piece of memory that all plans share, as big as the largest needs: one plan runs at a time.
  struct Shared {
    Arena arena;
    uint64_t in_use = 0;  // bytes that were touched, at most

    std::byte* data() const { return arena.data(); }
  };

  Status grow(Shared& shared, const char* what, uint64_t bytes);
  Status touch(Shared& shared, const char* what, uint64_t bytes) const;

  const Binder::Environment environment_;
  ThreadTeam& team_;
  Settings settings_;
  std::vector<std::unique_ptr<Prepared>> plans_;
  Shared scratch_, worker_scratch_, logits_;
  std::vector<Arena> outgrown_;  // kept until the next run: the last result may point into them
  uint64_t worker_stride_ = 0;
  std::vector<RowPlace> places_;
  const Prepared* last_ = nullptr;
  const Prepared* ran_ = nullptr;  // the last step, for traffic()
  std::vector<plan::SequenceRows> ran_sequences_;
  size_t ran_asked_ = 0;
  std::atomic<uint64_t> saturated_ = 0;
};

}  // namespace teapot::cpu
