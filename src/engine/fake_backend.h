// For tests: a backend without a model. The next token of a sequence is a hash of all before it, so that a state that was mixed up, cut
// wrongly or run twice gives another one.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "engine/fake_states.h"
#include "engine/request.h"
#include "plan/check_packet.h"

namespace teapot::engine {

class FakeBackend final : public plan::Backend {
 public:
  static constexpr uint32_t kVocab = 64;
  using Logits = std::array<float, kVocab>;

  struct Options {
    FakeSizes sizes = {};
    std::function<double(uint32_t rows)> step_ms = {};                // what a step is said to take; nothing: no time
    std::function<void(const plan::StepPacket& packet)> on_run = {};  // sees all packets that are sound, before they are run
    std::optional<int32_t> nan_token = {};                            // rows of this token give NaN
    size_t workers = 1;                                               // take their turns
    bool mtp = false;
    std::function<bool(uint64_t hash)> draft_holds = {};  // by the hash of what a draft follows; nothing: all are right
  };
  FakeBackend() : FakeBackend(Options{}) {}
  explicit FakeBackend(Options options) : options_(std::move(options)), states_(options_.sizes) {}

  // What must come after these tokens, by greedy choice without biases.
  static int32_t next_token(std::span<const int32_t> tokens) {
    uint64_t hash = FakeStates::kNoTokens;
    for (const int32_t token : tokens) hash = FakeStates::after(hash, token);
    return favourite(hash);
  }
  static Logits logits_after(std::span<const int32_t> tokens) {
    uint64_t hash = FakeStates::kNoTokens;
    for (const int32_t token : tokens) hash = FakeStates::after(hash, token);
    return logits(hash);
  }

  void fail_next_run() { fail_next_ = true; }  // its slots are unusable then
  bool about_to_fail() const { return fail_next_; }
  void fail_next_fork() { fail_next_fork_ = true; }                  // kMemory
  void give_nan(plan::SlotId slot) { states_.at(slot).nan = true; }  // until it is closed; forks do not inherit it
  double clock_ms() const { return clock_ms_; }                      // of all steps so far, as step_ms has it
  uint64_t steps() const { return steps_; }                          // run without an error
  const FakeStates& states() const { return states_; }

  Result<plan::SlotId> open_slot(uint32_t tokens) override { return states_.open(tokens); }
  Result<plan::SlotId> fork_slot(plan::SlotId from, uint32_t position, uint32_t tokens) override {
    if (std::exchange(fail_next_fork_, false)) return fail(ErrorKind::kMemory, "this fork was told to fail");
    return states_.fork(from, position, tokens);
  }
  void close_slot(plan::SlotId slot) override { states_.close(slot); }
  void seal_slot(plan::SlotId slot) override {
    FakeStates::State& state = states_.at(slot);
    state.capacity = state.committed;
  }
  Status accept(plan::SlotId slot, uint32_t rows) override {
    FakeStates::State& state = states_.at(slot);
    if (rows == 0 || rows > state.unverified.size()) {
      return fail(ErrorKind::kInternal, "accept: {} of {} rows of slot {}", rows, state.unverified.size(), static_cast<size_t>(slot));
    }
    for (uint32_t i = 0; i < rows; ++i) states_.append(state, state.unverified[i]);
    state.unverified.clear();
    state.mtp_committed = state.committed;
    return {};
  }
  uint32_t mtp_committed(plan::SlotId slot) const override { return states_.look(slot).mtp_committed; }
  uint32_t committed(plan::SlotId slot) const override { return states_.look(slot).committed; }
  std::span<const plan::PageId> pages(plan::SlotId slot) const override { return states_.look(slot).pages; }
  uint64_t state_bytes(uint32_t tokens) const override { return states_.state_bytes(tokens); }
  uint64_t page_bytes() const override { return options_.sizes.page_bytes; }
  bool recurrent() const override { return options_.sizes.recurrent; }
  Usage usage() const override { return states_.usage(); }

  Status load(const plan::WeightTable&, const plan::StateLayout&, const std::function<void(uint64_t, uint64_t)>& progress) override {
    if (progress) progress(1, 1);
    return {};
  }

  Result<plan::PlanId> prepare(const plan::Plan& plan) override {
    shapes_.push_back(plan.shape);
    return static_cast<plan::PlanId>(shapes_.size() - 1);
  }

  Status run(plan::PlanId plan, const plan::StepPacket& packet, plan::StepResult& result) override {
    TEAPOT_CHECK(check_plan(plan, packet));
    const plan::PlanKind kind = shapes_[static_cast<size_t>(plan)].kind;
    TEAPOT_CHECK(check_slots(kind, packet));
    const bool model = kind == plan::PlanKind::kModel || kind == plan::PlanKind::kModelMtp;
    if (model && options_.on_run) options_.on_run(packet);
    if (std::exchange(fail_next_, false)) {
      for (const plan::SequenceRows& rows : packet.sequences) states_.at(rows.slot).broken = true;
      return fail(ErrorKind::kInternal, "this step was told to fail");
    }
    clear(result, packet);
    for (const plan::SequenceRows& rows : packet.sequences) {
      FakeStates::State& state = states_.at(rows.slot);
      if (model) {
        run_model(state, rows, packet, result);
        if (kind == plan::PlanKind::kModelMtp) state.mtp_committed = state.committed;
      } else if (kind == plan::PlanKind::kMtpState) {
        state.mtp_committed += rows.rows;
      } else {
        draft(state, rows, packet, result);
      }
    }
    if (model && options_.step_ms) clock_ms_ += options_.step_ms(static_cast<uint32_t>(packet.tokens.size()));
    if (model) ++steps_;
    return {};
  }

  plan::StateSnapshot snapshot(plan::SlotId slot, uint32_t) const override {
    const uint64_t hash = states_.look(slot).hash;
    return {.recurrent = {static_cast<float>(hash >> 40), static_cast<float>(hash >> 16 & 0xffffff)}, .conv = {}};
  }
  void traffic(std::vector<plan::OpTraffic>& out) const override { out.clear(); }
  void trace(plan::StepTrace& out) const override { out = {}; }
  std::vector<std::string> op_names(plan::PlanId) const override { return {}; }
  plan::StepShares shares() const override { return {}; }
  size_t workers() const override { return options_.workers; }
  Status on_workers(const std::function<void(size_t worker)>& fn) override {
    for (size_t worker = 0; worker < options_.workers; ++worker) fn(worker);
    return {};
  }
  FixedBytes fixed_bytes() const override { return {.weights = 7000, .scratch = 300}; }
  std::vector<plan::SwitchReport> switches() const override { return {}; }
  std::vector<std::string> notes() const override { return {}; }

 private:
  static constexpr float kBest = 8;

  static int32_t favourite(uint64_t hash) { return static_cast<int32_t>(hash >> 58); }
  // Between -4 and 3.75, with many that are equal; the favourite's stands out.
  static Logits logits(uint64_t hash) {
    Logits row;
    for (uint32_t id = 0; id < kVocab; ++id) {
      row[id] = static_cast<float>(FakeStates::after(hash, static_cast<int32_t>(id)) >> 59) * 0.25f - 4;
    }
    row[static_cast<size_t>(favourite(hash))] = kBest;
    return row;
  }

  Status check_plan(plan::PlanId plan, const plan::StepPacket& packet) const {
    if (static_cast<size_t>(plan) >= shapes_.size()) return fail(ErrorKind::kInternal, "plan {} is not there", static_cast<size_t>(plan));
    return plan::check_packet(packet, {.rows = shapes_[static_cast<size_t>(plan)].rows, .tokens = kVocab, .vocab = kVocab});
  }

  Status check_slots(plan::PlanKind kind, const plan::StepPacket& packet) const {
    std::set<plan::SlotId> seen;
    for (const plan::SequenceRows& rows : packet.sequences) {
      const auto slot = static_cast<size_t>(rows.slot);
      if (!states_.is_open(rows.slot)) return fail(ErrorKind::kInternal, "packet: slot {} is not open", slot);
      if (!seen.insert(rows.slot).second) return fail(ErrorKind::kInternal, "packet: slot {} twice", slot);
      const FakeStates::State& state = states_.look(rows.slot);
      if (state.broken) return fail(ErrorKind::kInternal, "packet: slot {} was left unusable by a step", slot);
      if (!state.unverified.empty()) return fail(ErrorKind::kInternal, "packet: slot {} has rows that were not accepted", slot);
      TEAPOT_CHECK(check_position(kind, rows, state));
      TEAPOT_CHECK(check_mtp(kind, rows, state, packet));
      if (!states_.pages_agree(state)) return fail(ErrorKind::kInternal, "the pages of slot {} hold other tokens than its state", slot);
    }
    return {};
  }

  static Status check_position(plan::PlanKind kind, const plan::SequenceRows& rows, const FakeStates::State& state) {
    const uint32_t at = kind == plan::PlanKind::kMtpState ? state.mtp_committed : state.committed;
    if (kind == plan::PlanKind::kDraft ? rows.position < at : rows.position != at) {
      return fail(ErrorKind::kInternal, "packet: slot {} at position {}, its state is at {}", static_cast<size_t>(rows.slot), rows.position,
                  at);
    }
    if (rows.position + rows.rows > state.capacity) {
      return fail(ErrorKind::kInternal, "packet: slot {} has room for {} positions, {} were wanted", static_cast<size_t>(rows.slot),
                  state.capacity, rows.position + rows.rows);
    }
    return {};
  }

  Status check_mtp(plan::PlanKind kind, const plan::SequenceRows& rows, const FakeStates::State& state,
                   const plan::StepPacket& packet) const {
    const uint32_t behind = state.committed - state.mtp_committed;
    const auto wrong = [&](const char* what) {
      return fail(ErrorKind::kInternal, "slot {}, {} rows, the MTP layer {} behind: {}", static_cast<size_t>(rows.slot), rows.rows, behind,
                  what);
    };
    if (!options_.mtp) {
      const bool plain = kind == plan::PlanKind::kModel && rows.kind != plan::StepKind::kVerify;
      return plain ? Status{} : wrong("there is no MTP layer");
    }
    const bool verify = rows.kind == plan::StepKind::kVerify, draft = rows.kind == plan::StepKind::kDraft;
    if (draft != (kind == plan::PlanKind::kDraft)) return wrong("drafts are made by draft plans");
    if (verify && kind != plan::PlanKind::kModelMtp) return wrong("drafts are verified with the MTP layer");
    if (verify && rows.rows > kMaxDrafts + 1) return wrong("too many rows to verify");
    if (draft && rows.rows != 1) return wrong("a draft step of more than a row");
    if ((draft || kind == plan::PlanKind::kModelMtp) && behind > 0) return wrong("it has to catch up first");
    if (kind == plan::PlanKind::kModel && behind + rows.rows >= plan::kHiddenRows) return wrong("it cannot catch up any more");
    if (kind == plan::PlanKind::kMtpState) {
      if (rows.rows > behind) return wrong("it cannot be ahead");
      for (uint32_t i = 0; i < rows.rows && options_.sizes.page_bytes > 0; ++i) {
        if (states_.token_at(state, rows.position + i) != packet.tokens[rows.first_row + i]) return wrong("other tokens than the state's");
      }
    }
    return {};
  }

  void run_model(FakeStates::State& state, const plan::SequenceRows& rows, const plan::StepPacket& packet, plan::StepResult& result) {
    const bool verify = rows.kind == plan::StepKind::kVerify;
    uint64_t hash = state.hash;
    for (uint32_t row = rows.first_row; row < rows.first_row + rows.rows; ++row) {
      const int32_t token = packet.tokens[row];
      hash = FakeStates::after(hash, token);
      if (verify) {
        state.unverified.push_back(token);
      } else {
        states_.append(state, token);
      }
      if (packet.returns[row] != plan::RowReturn::kNothing) answer(hash, state.nan, packet, row, result);
    }
  }

  // Right, where draft_holds says so.
  void draft(FakeStates::State& state, const plan::SequenceRows& rows, const plan::StepPacket& packet, plan::StepResult& result) {
    const uint32_t row = rows.first_row;
    state.draft_hash = FakeStates::after(rows.position == state.committed ? state.hash : state.draft_hash, packet.tokens[row]);
    answer(state.draft_hash, state.nan, packet, row, result);
    result.probability.resize(result.rows.size());
    const bool holds = !options_.draft_holds || options_.draft_holds(state.draft_hash);
    result.probability.back() = holds ? 0.9f : 0.3f;
    if (!holds && result.argmax.back() >= 0) result.argmax.back() = (result.argmax.back() + 1) % static_cast<int32_t>(kVocab);
  }

  // The results point into what is kept here, which must not move while rows are answered.
  void clear(plan::StepResult& result, const plan::StepPacket& packet) {
    const size_t rows = packet.tokens.size() - static_cast<size_t>(std::ranges::count(packet.returns, plan::RowReturn::kNothing));
    result.rows.clear();
    result.argmax.clear();
    result.max.clear();
    result.top.clear();
    result.logits.clear();
    result.taps.clear();
    result.probability.clear();
    logits_.resize(rows);
    top_.resize(rows);
  }

  // hash: of the tokens up to the row's.
  void answer(uint64_t hash, bool broken, const plan::StepPacket& packet, uint32_t row, plan::StepResult& result) {
    const size_t index = result.rows.size();
    const bool nan = broken || packet.tokens[row] == options_.nan_token;
    const bool plain = !nan && (packet.masks.empty() || packet.masks[row].count == 0);
    result.rows.push_back(row);
    result.argmax.push_back(-1);
    result.max.push_back(0);
    result.top.emplace_back();
    result.logits.emplace_back();
    if ((packet.returns[row] == plan::RowReturn::kArgmax || packet.returns[row] == plan::RowReturn::kDraft) && plain) {
      result.argmax[index] = favourite(hash);
      result.max[index] = kBest;
      return;
    }
    Logits& values = logits_[index];
    values = logits(hash);
    if (nan) values.fill(std::numeric_limits<float>::quiet_NaN());
    if (packet.returns[row] == plan::RowReturn::kLogits) {
      result.logits[index] = values;
      return;
    }
    if (!packet.masks.empty()) {
      for (const plan::LogitBias& bias : std::span(packet.biases).subspan(packet.masks[row].first, packet.masks[row].count)) {
        values[static_cast<size_t>(bias.id)] += bias.bias;
      }
    }
    std::vector<plan::Candidate>& order = top_[index];
    order.clear();
    for (uint32_t id = 0; id < kVocab; ++id) order.push_back({values[id], static_cast<int32_t>(id)});
    std::ranges::stable_sort(order, [](const plan::Candidate& a, const plan::Candidate& b) { return a.logit > b.logit; });
    if (packet.returns[row] == plan::RowReturn::kTopK && !nan) {
      result.top[index] = std::span(order).first(packet.top_k);
      return;
    }
    result.max[index] = order.front().logit;
    if (order.front().logit > -std::numeric_limits<float>::infinity()) result.argmax[index] = order.front().id;
  }

  const Options options_;
  FakeStates states_;
  std::vector<plan::StepShape> shapes_;  // [PlanId]
  bool fail_next_ = false, fail_next_fork_ = false;
  double clock_ms_ = 0;
  uint64_t steps_ = 0;
  std::vector<Logits> logits_;                     // [rows with a return]
  std::vector<std::vector<plan::Candidate>> top_;  // [rows with a return]
};

}  // namespace teapot::engine
