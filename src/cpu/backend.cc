#include "cpu/backend.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <thread>

#include "base/memory_policy.h"
#include "base/ticks.h"
#include "cpu/settings.h"
#include "cpu/slots.h"

namespace teapot::cpu {
namespace {

Status check_layout(const plan::StateLayout& layout, bool bf16_state) {
  if (layout.kv_layers() > 0 && (layout.kv_heads == 0 || layout.head_dim == 0)) {
    return fail(ErrorKind::kInternal, "state: {} KV heads of {} elements", layout.kv_heads, layout.head_dim);
  }
  if (layout.verify_rows > kMaxVerifyRows) {
    return fail(ErrorKind::kUnsupported, "state: {} rows to verify, at most {} are supported", layout.verify_rows, kMaxVerifyRows);
  }
  if (layout.gdn_layers == 0) return {};
  if (layout.verify_rows > 0 && bf16_state) {
    return fail(ErrorKind::kUnsupported,
                "speculation with a bf16 recurrent state: it is rounded once a step, so that a reply would depend on the guesses; use f32");
  }
  if (layout.conv_kernel == 0 || layout.conv_kernel > kMaxConvKernel) {
    return fail(ErrorKind::kUnsupported, "state: convolution over {} tokens, 1 to {} are supported", layout.conv_kernel, kMaxConvKernel);
  }
  if (layout.key_heads == 0 || layout.value_heads % layout.key_heads != 0 || layout.value_heads == 0 || layout.dk == 0 || layout.dv == 0) {
    return fail(ErrorKind::kInternal, "state: {} value heads of {} for {} key heads of {}", layout.value_heads, layout.dv, layout.key_heads,
                layout.dk);
  }
  return {};
}

class CpuBackend final : public plan::Backend {
 public:
  CpuBackend(Settings settings, std::unique_ptr<ThreadTeam> team, std::optional<CallerPin> pin)
      : settings_(std::move(settings)), pin_(std::move(pin)), team_(std::move(team)) {}

  Status load(const plan::WeightTable& weights, const plan::StateLayout& layout, const PackedWeights::Progress& progress) override {
    if (weights_) return fail(ErrorKind::kInternal, "the weights are loaded already");
    TEAPOT_CHECK(check_layout(layout, settings_.executor.bf16_state));
    TEAPOT_CHECK(set_memory_policy(true));
    TEAPOT_TRY(weights_, PackedWeights::load(weights, settings_.pages, *team_, progress, settings_.prepack));
    TEAPOT_CHECK(set_memory_policy(false));
    TEAPOT_TRY(weight_usage_, weights_->arena().usage());
    layout_ = layout;
    slots_.emplace(layout_, settings_.executor.kv_type, settings_.executor.bf16_state, settings_.executor.pages, *team_);
    executor_.emplace(
        Binder::Environment{*weights_, layout_, *settings_.kernels, settings_.int8_activations, team_->workers(), settings_.levers}, *team_,
        settings_.executor);
    return {};
  }

  Result<plan::PlanId> prepare(const plan::Plan& plan) override {
    if (!executor_) return fail(ErrorKind::kInternal, "prepare before load");
    return executor_->prepare(plan);
  }

  Result<plan::SlotId> open_slot(uint32_t tokens) override {
    if (!slots_) return fail(ErrorKind::kInternal, "open_slot before load");
    return slots_->open(tokens);
  }
  Result<plan::SlotId> fork_slot(plan::SlotId from, uint32_t position, uint32_t tokens) override {
    if (!slots_) return fail(ErrorKind::kInternal, "fork_slot before load");
    return slots_->fork(from, position, tokens);
  }
  void close_slot(plan::SlotId slot) override { slots_->close(slot); }
  void seal_slot(plan::SlotId slot) override { slots_->seal(slot); }
  Status accept(plan::SlotId slot, uint32_t rows) override {
    if (!slots_) return fail(ErrorKind::kInternal, "accept before load");
    return slots_->accept(slot, rows);
  }
  uint32_t committed(plan::SlotId slot) const override { return slots_->find(slot)->committed(); }
  uint32_t mtp_committed(plan::SlotId slot) const override { return slots_->find(slot)->mtp_committed(); }
  std::span<const plan::PageId> pages(plan::SlotId slot) const override { return slots_->find(slot)->pages(); }
  uint64_t state_bytes(uint32_t tokens) const override { return slots_->sizes().state_bytes(tokens); }
  uint64_t page_bytes() const override { return slots_->sizes().page_bytes; }
  bool recurrent() const override { return layout_.gdn_layers > 0; }
  Usage usage() const override { return slots_ ? slots_->usage() : Usage{}; }

  Status run(plan::PlanId plan, const plan::StepPacket& packet, plan::StepResult& result) override {
    if (!executor_) return fail(ErrorKind::kInternal, "run before load");
    if (pin_ && std::this_thread::get_id() != owner_) return fail(ErrorKind::kInternal, "a step on another thread than the bound one");
    TEAPOT_CHECK(executor_->check(plan, packet));
    const uint32_t pages = slots_->usage().pages;
    const uint64_t began = ticks();
    TEAPOT_CHECK(resolve(packet, executor_->kind(plan)));
    taking_.reset();
    if (slots_->usage().pages != pages) taking_ = plan::HostSpan{plan::HostWork::kAllocate, "pages", began, ticks()};
    return executor_->run(plan, packet, states_, result);
  }

  plan::StateSnapshot snapshot(plan::SlotId slot, uint32_t gdn_layer) const override {
    const SequenceState* const state = slots_->find(slot);
    assert(state != nullptr);
    return state->snapshot(layout_, *settings_.kernels, gdn_layer);
  }

  void traffic(std::vector<plan::OpTraffic>& out) const override {
    out.clear();
    if (executor_) executor_->traffic(out);
  }

  size_t workers() const override { return team_->workers(); }

  Status on_workers(const std::function<void(size_t worker)>& fn) override {
    team_->run(fn);
    return {};
  }

  void trace(plan::StepTrace& out) const override {
    if (executor_) executor_->trace(out);
    if (taking_) out.host.insert(out.host.begin(), *taking_);
  }

  std::vector<std::string> op_names(plan::PlanId plan) const override { return executor_->op_names(plan); }

  plan::StepShares shares() const override { return executor_ ? executor_->shares() : plan::StepShares{}; }

  FixedBytes fixed_bytes() const override {
    return {.weights = weights_ ? weights_->arena().bytes() : 0, .scratch = executor_ ? executor_->scratch_bytes() : 0};
  }

  std::vector<plan::SwitchReport> switches() const override {
    return switch_reports({settings_, weights_ ? &*weights_ : nullptr, weight_usage_, executor_ ? executor_->saturated() : 0});
  }

  std::vector<std::string> notes() const override { return settings_.notes; }

 private:
  // states_: of the packet's sequences.
  Status resolve(const plan::StepPacket& packet, plan::PlanKind kind) {
    states_.clear();
    for (const plan::SequenceRows& rows : packet.sequences) {
      TEAPOT_CHECK(slots_->prepare(rows, kind));
      SequenceState* const state = slots_->find(rows.slot);
      if (std::ranges::find(states_, state) != states_.end()) {
        return fail(ErrorKind::kInternal, "packet: slot {} twice", static_cast<size_t>(rows.slot));
      }
      states_.push_back(state);
    }
    return {};
  }

  // For what the workers touch from now on: weights are read by all of them, so they lie on all memory nodes in turn.
  Status set_memory_policy(bool interleave) {
    if (settings_.topology.numa_nodes < 2) return {};
    std::vector<Status> results(team_->workers());
    team_->run([&](size_t worker) {
      const auto policy = MemoryPolicy::create();
      results[worker] = !policy ? std::unexpected(policy.error()) : interleave ? policy->interleave() : policy->local();
    });
    for (const Status& result : results) {
      if (result) continue;
      if (settings_.options.bind == "numa") return result;
      settings_.notes.push_back("the weights are not spread over the memory nodes: " + result.error().message);
      break;
    }
    return {};
  }

  Settings settings_;
  PageUsage weight_usage_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::optional<CallerPin> pin_;
  std::unique_ptr<ThreadTeam> team_;
  std::optional<PackedWeights> weights_;
  plan::StateLayout layout_{};
  std::optional<Executor> executor_;
  std::optional<Slots> slots_;
  std::vector<SequenceState*> states_;
  std::optional<plan::HostSpan> taking_;  // pages for the last step
};

}  // namespace

Result<std::unique_ptr<plan::Backend>> create_backend(const Options& options) {
  TEAPOT_TRY(Settings settings, settle(options));
  // The team first: its threads must not inherit this one's binding.
  TEAPOT_TRY(std::unique_ptr<ThreadTeam> team, ThreadTeam::create(settings.workers, settings.placement.cpus, settings.waiting));
  std::optional<CallerPin> pin;
  if (!settings.placement.cpus.empty()) {
    TEAPOT_TRY(CallerPin bound, CallerPin::to(settings.placement.cpus[0]));
    pin.emplace(std::move(bound));
  }
  return std::make_unique<CpuBackend>(std::move(settings), std::move(team), std::move(pin));
}

}  // namespace teapot::cpu
