// Prepares plans and runs them. How much of a step is decided beforehand is the plan mode: in kStatic everything that does not change
// from step to step, so that run() only computes.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "cpu/ops/ops.h"
#include "cpu/scratch.h"
#include "plan/traffic.h"

namespace teapot::cpu {

enum class PlanMode : uint8_t {
  kEager,    // op by op: each bound when its turn comes, each with a fork and join of the team
  kDynamic,  // all ops bound when the step comes, one parallel region
  kStatic    // bound when the plan is prepared, one parallel region
};

class Executor {
 public:
  struct Settings {
    KvType kv_type;
    Pages pages;
    PlanMode plan = PlanMode::kStatic;
    Sync sync = Sync::kFlags;
    bool bf16_state = false;          // width of the recurrent state; else f32
    bool allocate_each_step = false;  // scratch comes from malloc, step by step
  };

  // All references must outlive the executor.
  Executor(const Binder::Environment& environment, ThreadTeam& team, const Settings& settings);

  // kInternal when the plan does not fit the weights (plan/check.h), kMemory when its scratch does not fit, with both numbers.
  Result<plan::PlanId> prepare(const plan::Plan& plan);

  // Whether the packet has the plan's shape and asks for what the plan computes; states and positions are the backend's to check.
  Status check(plan::PlanId id, const plan::StepPacket& packet) const;

  std::vector<std::string> op_names(plan::PlanId id) const;

  plan::PlanKind kind(plan::PlanId id) const { return plans_[static_cast<size_t>(id)]->source.shape.kind; }

  // states: of packet.sequences, with room for their rows. Allocates nothing in static plans with scratch of their own, but for taps and
  // until `result` and this have seen a step as big.
  Status run(plan::PlanId id, const plan::StepPacket& packet, std::span<SequenceState* const> states, plan::StepResult& result);

  // Both of the last step; empty before the first.
  void traffic(std::vector<plan::OpTraffic>& out) const;
  void trace(plan::StepTrace& out) const;
  plan::StepShares shares() const;

  uint64_t scratch_bytes() const { return scratch_.bytes() + worker_scratch_.bytes() + logits_.bytes(); }
  uint64_t saturated() const { return saturated_.load(std::memory_order_relaxed); }  // values that did not fit an f16 KV cache

 private:
  struct Prepared {
    plan::Plan source;
    std::vector<OpGroup> groups;  // of `source`
    std::vector<BoundOp> ops;     // [groups], of a static plan
    std::vector<ScratchRows<float>> padded;
    size_t scratch_bytes;
    size_t token_limit;  // rows of the embedding tables
    size_t vocab;        // of the head; 0: the plan has none
  };

  Result<std::unique_ptr<Prepared>> bind_all(const plan::Plan& plan);
  Status take_scratch(const Prepared& prepared, const plan::StepResult& result, bool keep_logits);
  // fn(), remembered as work of the caller.
  template <class F>
  auto timed(plan::HostWork work, const char* what, F&& fn);
  void run_region(Step& step, std::span<const OpGroup> groups, std::span<const BoundOp> ops);
  void run_eager(Step& step, const Prepared& prepared);

  const Binder::Environment environment_;
  ThreadTeam& team_;
  const Settings settings_;
  Constants constants_;
  std::vector<std::unique_ptr<Prepared>> plans_;
  Scratch scratch_, worker_scratch_, logits_;
  std::vector<plan::Candidate> top_;  // what the last result points to
  uint64_t worker_stride_ = 0;
  std::vector<RowPlace> places_;
  const Prepared* last_ = nullptr;  // whose values lie in the scratch memory
  std::vector<ZoneRing> zones_;     // [workers]
  std::vector<plan::HostSpan> host_;
  uint64_t began_ = 0, ended_ = 0;  // ticks, of the last step
  // The last step, for traffic() and trace().
  const Prepared* ran_ = nullptr;
  std::vector<plan::SequenceRows> ran_sequences_;
  std::vector<uint32_t> ran_pending_;  // [ran_sequences_]: tokens that the recurrent state lacked
  std::vector<uint32_t> ran_experts_;  // [groups]: distinct experts of a MoeOp
  size_t ran_asked_ = 0, ran_head_rows_ = 0;
  std::atomic<uint64_t> saturated_ = 0;
};

}  // namespace teapot::cpu
