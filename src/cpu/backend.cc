#include "cpu/backend.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "base/memory.h"
#include "base/topology.h"
#include "cpu/executor.h"
#include "cpu/isa.h"

namespace teapot::cpu {
namespace {

constexpr int kMaxThreads = 1024;

template <class T>
struct Choice {
  const char* name;
  T value;
};
constexpr Choice<KvType> kKvTypes[] = {{"f32", kKvF32}, {"bf16", kKvBF16}, {"f16", kKvF16}};
constexpr Choice<bool> kActivations[] = {{"auto", true}, {"f32", false}, {"int8", true}};
constexpr Choice<Pages> kPages[] = {{"4k", Pages::k4k}, {"thp", Pages::kThp}};

template <class T, size_t n>
Result<T> choose(const char* option, const std::string& name, const Choice<T> (&choices)[n]) {
  std::string known;
  for (const auto& choice : choices) {
    if (name == choice.name) return choice.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  return fail(ErrorKind::kInvalid, "{}: {:?} is none of {}", option, name, known);
}

// The weight types that have int8 kernels of their own, and those that would want one.
bool is_quantised(plan::WeightType type) { return plan::info(type).elements > 1; }

Status check_layout(const plan::StateLayout& layout) {
  if (layout.attention_layers > 0 && (layout.kv_heads == 0 || layout.head_dim == 0)) {
    return fail(ErrorKind::kInternal, "state: {} KV heads of {} elements", layout.kv_heads, layout.head_dim);
  }
  if (layout.gdn_layers == 0) return {};
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
  struct Settings {
    Options options;
    const KernelTable* kernels = nullptr;
    KvType kv_type = kKvF32;
    bool int8_activations = false;
    Pages pages = Pages::k4k;
    std::string pages_reason;
    std::vector<unsigned> cpus;  // [workers], empty: not pinned
    std::string machine;
  };

  CpuBackend(Settings settings, std::unique_ptr<ThreadTeam> team) : settings_(std::move(settings)), team_(std::move(team)) {}

  Status load(const plan::WeightTable& weights, const plan::StateLayout& layout, const PackedWeights::Progress& progress) override {
    if (weights_) return fail(ErrorKind::kInternal, "the weights are loaded already");
    TEAPOT_CHECK(check_layout(layout));
    TEAPOT_TRY(weights_, PackedWeights::load(weights, settings_.pages, *team_, progress));
    layout_ = layout;
    executor_.emplace(Binder::Environment{*weights_, layout_, *settings_.kernels, settings_.int8_activations, team_->workers()}, *team_,
                      Executor::Settings{settings_.kv_type, settings_.pages});
    return {};
  }

  Result<plan::PlanId> prepare(const plan::Plan& plan) override {
    if (!executor_) return fail(ErrorKind::kInternal, "prepare before load");
    return executor_->prepare(plan);
  }

  Result<plan::SlotId> open_slot(uint32_t tokens) override {
    const auto free = std::ranges::find_if(slots_, [](const auto& slot) { return !slot; });
    if (free == slots_.end() && slots_.size() >= 0xffff) return fail(ErrorKind::kMemory, "more than {} sequences", 0xffff);
    // What the open slots will still take counts as taken.
    uint64_t promised = 0;
    for (const auto& slot : slots_) {
      if (slot) promised += state_bytes(slot->capacity()) - (slot->committed() == 0 ? 0 : state_bytes(slot->committed()));
    }
    TEAPOT_TRY(const MemoryStatus memory, read_memory());
    if (promised + state_bytes(tokens) > memory.available_bytes) {
      return fail(ErrorKind::kMemory, "a sequence of {} tokens needs {} bytes; {} are available ({}), of which open sequences may take {}",
                  tokens, state_bytes(tokens), memory.available_bytes, memory.limited_by, promised);
    }
    TEAPOT_TRY(SequenceState state, SequenceState::open(layout_, settings_.kv_type, tokens, settings_.pages));
    auto owned = std::make_unique<SequenceState>(std::move(state));
    if (free != slots_.end()) {
      *free = std::move(owned);
      return static_cast<plan::SlotId>(free - slots_.begin());
    }
    slots_.push_back(std::move(owned));
    states_.reserve(slots_.size());
    return static_cast<plan::SlotId>(slots_.size() - 1);
  }

  void close_slot(plan::SlotId slot) override {
    assert(static_cast<size_t>(slot) < slots_.size());
    slots_[static_cast<size_t>(slot)].reset();
  }

  Status run(plan::PlanId plan, const plan::StepPacket& packet, plan::StepResult& result) override {
    if (!executor_) return fail(ErrorKind::kInternal, "run before load");
    TEAPOT_CHECK(executor_->check(plan, packet));
    TEAPOT_CHECK(resolve(packet));
    if (settings_.cpus.empty()) return executor_->run(plan, packet, states_, result);
    TEAPOT_TRY(const CallerPin pin, CallerPin::to(settings_.cpus[0]));
    return executor_->run(plan, packet, states_, result);
  }

  plan::StateSnapshot snapshot(plan::SlotId slot, uint32_t gdn_layer) const override {
    assert(static_cast<size_t>(slot) < slots_.size() && slots_[static_cast<size_t>(slot)]);
    return slots_[static_cast<size_t>(slot)]->snapshot(layout_, gdn_layer);
  }

  void traffic(std::vector<plan::OpTraffic>& out) const override {
    out.clear();
    if (executor_) executor_->traffic(out);
  }

  size_t workers() const override { return team_->workers(); }

  Status on_workers(const std::function<void(size_t worker)>& fn) override {
    if (settings_.cpus.empty()) {
      team_->run(fn);
      return {};
    }
    TEAPOT_TRY(const CallerPin pin, CallerPin::to(settings_.cpus[0]));
    team_->run(fn);
    return {};
  }

  uint64_t state_bytes(uint32_t tokens) const override { return SequenceState::bytes(layout_, settings_.kv_type, tokens); }

  std::vector<plan::SwitchReport> switches() const override;

 private:
  // states_: of the packet's sequences.
  Status resolve(const plan::StepPacket& packet) {
    states_.clear();
    for (const plan::SequenceRows& rows : packet.sequences) {
      const auto slot = static_cast<size_t>(rows.slot);
      if (slot >= slots_.size() || !slots_[slot]) return fail(ErrorKind::kInternal, "packet: slot {} is not open", slot);
      SequenceState* const state = slots_[slot].get();
      if (std::ranges::find(states_, state) != states_.end()) return fail(ErrorKind::kInternal, "packet: slot {} twice", slot);
      if (rows.position != state->committed()) {
        return fail(ErrorKind::kInternal, "packet: slot {} at position {}, its state is at {}", slot, rows.position, state->committed());
      }
      if (rows.rows > state->capacity() - state->committed()) {
        return fail(ErrorKind::kInternal, "packet: slot {} has room for {} positions, {} were wanted", slot, state->capacity(),
                    uint64_t{state->committed()} + rows.rows);
      }
      states_.push_back(state);
    }
    return {};
  }

  plan::SwitchReport activations_report() const;

  Settings settings_;
  std::unique_ptr<ThreadTeam> team_;
  std::optional<PackedWeights> weights_;
  plan::StateLayout layout_{};
  std::optional<Executor> executor_;
  std::vector<std::unique_ptr<SequenceState>> slots_;
  std::vector<SequenceState*> states_;
};

plan::SwitchReport CpuBackend::activations_report() const {
  const std::string& requested = settings_.options.activations;
  if (!settings_.int8_activations || !weights_) return {"activations", requested, settings_.int8_activations ? "int8" : "f32", ""};
  bool quantised = false;
  std::array<bool, plan::kWeightTypes> without{};
  for (const plan::Matrix& matrix : weights_->table().matrices) {
    if (!is_quantised(matrix.type)) continue;
    quantised = true;
    without[static_cast<size_t>(matrix.type)] = settings_.kernels->matmul_q8[static_cast<size_t>(matrix.type)] == nullptr;
  }
  if (!quantised) return {"activations", requested, "f32", "no weights are quantised"};
  std::string types;
  for (size_t type = 0; type < plan::kWeightTypes; ++type) {
    if (without[type]) types += fmt::format("{}{}", types.empty() ? "" : ", ", plan::kWeightTypeInfo[type].name);
  }
  if (types.empty()) return {"activations", requested, "int8", ""};
  return {"activations", requested, "int8, f32 for " + types, fmt::format("{} has no int8 kernel for them", settings_.kernels->isa)};
}

std::vector<plan::SwitchReport> CpuBackend::switches() const {
  const Options& options = settings_.options;
  const uint64_t saturated = executor_ ? executor_->saturated() : 0;
  return {
      {"isa", options.isa, settings_.kernels->isa, options.isa == "auto" ? "the best that this processor has" : ""},
      {"kv-dtype", options.kv_dtype, options.kv_dtype,
       saturated == 0 ? "" : fmt::format("{} values beyond ±65504 were saturated", saturated)},
      activations_report(),
      {"pages", options.pages, settings_.pages == Pages::kThp ? "thp" : "4k", settings_.pages_reason},
      {"threads", options.threads == 0 ? "auto" : fmt::format("{}", options.threads), fmt::format("{}", team_->workers()),
       settings_.machine},
      {"bind", options.pin ? "core" : "off", options.pin ? "core" : "off",
       options.pin ? fmt::format("cpus {}", fmt::join(settings_.cpus, ",")) : ""},
  };
}

}  // namespace

Result<std::unique_ptr<plan::Backend>> create_backend(const Options& options) {
  CpuBackend::Settings settings;
  settings.options = options;
  TEAPOT_TRY(settings.kernels, select_kernels(options.isa));
  TEAPOT_TRY(settings.kv_type, choose("kv-dtype", options.kv_dtype, kKvTypes));
  TEAPOT_TRY(settings.int8_activations, choose("activations", options.activations, kActivations));
  TEAPOT_TRY(const Pages pages, choose("pages", options.pages, kPages));
  const PagesReport supported = supported_pages(pages);
  settings.pages = supported.active;
  settings.pages_reason = supported.reason;

  if (options.threads < 0 || options.threads > kMaxThreads) {
    return fail(ErrorKind::kInvalid, "threads: {}, expected 1 to {} (0: one a physical core)", options.threads, kMaxThreads);
  }
  TEAPOT_TRY(const Topology topology, read_topology());
  const size_t workers = options.threads == 0 ? topology.cores.size() : static_cast<size_t>(options.threads);
  settings.machine = topology.describe();
  if (options.pin) {
    if (workers > topology.cpus()) {
      return fail(ErrorKind::kUnsupported, "threads: {} cannot be bound to {}; use fewer, or --no-pin", workers, settings.machine);
    }
    settings.cpus = topology.place(workers);
  }
  TEAPOT_TRY(std::unique_ptr<ThreadTeam> team, ThreadTeam::create(workers, settings.cpus));
  return std::make_unique<CpuBackend>(std::move(settings), std::move(team));
}

}  // namespace teapot::cpu
