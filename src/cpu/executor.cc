#include "cpu/executor.h"

#include <algorithm>

#include "base/memory.h"
#include "cpu/traffic.h"
#include "plan/check.h"

namespace teapot::cpu {

// Memory that is about to be touched for the first time must be there: a clear error instead of being killed.
Status Executor::touch(Shared& shared, const char* what, uint64_t bytes) const {
  if (bytes <= shared.in_use) return {};
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  if (bytes - shared.in_use > memory.available_bytes) {
    return fail(ErrorKind::kMemory, "{}: {} more bytes are needed, {} are available ({})", what, bytes - shared.in_use,
                memory.available_bytes, memory.limited_by);
  }
  shared.in_use = bytes;
  return {};
}

Status Executor::grow(Shared& shared, const char* what, uint64_t bytes) {
  if (bytes <= shared.arena.bytes()) return {};
  TEAPOT_TRY(Arena bigger, Arena::reserve(what, bytes, settings_.pages));
  std::swap(shared.arena, bigger);
  shared.in_use = 0;
  if (bigger.data() != nullptr) outgrown_.push_back(std::move(bigger));
  last_ = nullptr;
  return {};
}

Result<plan::PlanId> Executor::prepare(const plan::Plan& plan) {
  TEAPOT_CHECK(plan::check(plan, environment_.weights.table(), environment_.layout));
  if (plans_.size() >= 0xffff) return fail(ErrorKind::kInternal, "more than {} plans", 0xffff);
  auto prepared = std::make_unique<Prepared>(Prepared{plan.shape, plan, {}, {}, 0, 0});
  Binder binder(plan, environment_);
  for (const plan::Op& op : plan.ops) {
    prepared->ops.push_back(bind(op, plan, binder));
    if (const auto* embed = std::get_if<plan::Embed>(&op)) prepared->token_limit = binder.matrix(embed->table).rows;
    if (const auto* head = std::get_if<plan::Head>(&op)) prepared->vocab = binder.matrix(head->matrix).rows;
  }
  prepared->padded = binder.padded();

  worker_stride_ = std::max<uint64_t>(worker_stride_, binder.worker_bytes());
  TEAPOT_CHECK(grow(scratch_, "scratch memory of a plan", binder.scratch_bytes()));
  TEAPOT_CHECK(touch(scratch_, "scratch memory of a plan", binder.scratch_bytes()));
  TEAPOT_CHECK(grow(worker_scratch_, "scratch memory of the threads", worker_stride_ * team_.workers()));
  TEAPOT_CHECK(touch(worker_scratch_, "scratch memory of the threads", worker_stride_ * team_.workers()));
  // Only steps that return logits touch these, and only as many rows as are asked for.
  TEAPOT_CHECK(grow(logits_, "logits", uint64_t{plan.shape.rows} * prepared->vocab * sizeof(float)));
  places_.reserve(plan.shape.rows);
  ran_sequences_.reserve(plan.shape.sequences);
  plans_.push_back(std::move(prepared));
  return static_cast<plan::PlanId>(plans_.size() - 1);
}

Status Executor::check(plan::PlanId id, const plan::StepPacket& packet) const {
  if (static_cast<size_t>(id) >= plans_.size()) return fail(ErrorKind::kInternal, "plan {} of {}", static_cast<size_t>(id), plans_.size());
  const Prepared& prepared = *plans_[static_cast<size_t>(id)];
  const size_t rows = prepared.shape.rows;
  if (packet.tokens.size() != rows || packet.returns.size() != rows || packet.sequences.size() != prepared.shape.sequences) {
    return fail(ErrorKind::kInternal, "packet of {} tokens, {} returns, {} sequences; the plan is for {} rows, {} sequences",
                packet.tokens.size(), packet.returns.size(), packet.sequences.size(), rows, prepared.shape.sequences);
  }
  size_t covered = 0;
  for (const plan::SequenceRows& sequence : packet.sequences) {
    if (sequence.first_row != covered || sequence.rows == 0) {
      return fail(ErrorKind::kInternal, "packet: {} rows of a sequence at row {}, expected some at row {}", sequence.rows,
                  sequence.first_row, covered);
    }
    covered += sequence.rows;
  }
  if (covered != rows) return fail(ErrorKind::kInternal, "packet: sequences cover {} of {} rows", covered, rows);
  for (const int32_t token : packet.tokens) {
    if (token < 0 || static_cast<size_t>(token) >= prepared.token_limit) {
      return fail(ErrorKind::kInvalid, "token {}: the vocabulary has {}", token, prepared.token_limit);
    }
  }
  if (prepared.vocab == 0 && std::ranges::any_of(packet.returns, [](plan::RowReturn r) { return r != plan::RowReturn::kNothing; })) {
    return fail(ErrorKind::kInternal, "packet asks for results of a plan without a head");
  }
  return {};
}

Status Executor::run(plan::PlanId id, const plan::StepPacket& packet, std::span<SequenceState* const> states, plan::StepResult& result) {
  const Prepared& prepared = *plans_[static_cast<size_t>(id)];
  outgrown_.clear();
  result.rows.clear();
  result.taps.clear();
  bool keep_logits = false;
  for (uint32_t row = 0; row < prepared.shape.rows; ++row) {
    if (packet.returns[row] != plan::RowReturn::kNothing) result.rows.push_back(row);
    keep_logits = keep_logits || packet.returns[row] == plan::RowReturn::kLogits;
  }
  result.argmax.assign(result.rows.size(), -1);
  result.logits.assign(result.rows.size(), {});
  if (keep_logits) TEAPOT_CHECK(touch(logits_, "logits", uint64_t{result.rows.size()} * prepared.vocab * sizeof(float)));

  places_.clear();
  for (size_t s = 0; s < states.size(); ++s) {
    const plan::SequenceRows& rows = packet.sequences[s];
    for (uint32_t i = 0; i < rows.rows; ++i) places_.push_back({states[s], rows.position + i});
  }
  Step step{.kernels = environment_.kernels,
            .team = team_,
            .scratch = scratch_.data(),
            .worker_scratch = worker_scratch_.data(),
            .worker_stride = worker_stride_,
            .logits = reinterpret_cast<float*>(logits_.data()),
            .kv_type = settings_.kv_type,
            .packet = packet,
            .states = states,
            .places = places_,
            .result = result,
            .saturated = saturated_};
  if (last_ != &prepared) {  // another plan left its values where this one's rows end
    for (const ScratchRows<float>& rows : prepared.padded) {
      for (size_t row = 0; row < prepared.shape.rows; ++row) rows.clear_padding(step, row);
    }
    last_ = &prepared;
  }
  for (const BoundOp& op : prepared.ops) {
    std::visit([&](const auto& bound) { bound.run(step); }, op);
  }
  for (size_t s = 0; s < states.size(); ++s) states[s]->commit(packet.sequences[s].rows);
  ran_ = &prepared;
  ran_sequences_.assign(packet.sequences.begin(), packet.sequences.end());
  ran_asked_ = result.rows.size();
  return {};
}

void Executor::traffic(std::vector<plan::OpTraffic>& out) const {
  out.clear();
  if (ran_ == nullptr) return;
  std::vector<uint32_t> touched;
  for (const BoundOp& op : ran_->ops) {
    const auto* const moe = std::get_if<MoeOp>(&op);
    touched.push_back(moe == nullptr ? 0 : moe->touched_last());
  }
  count_traffic(ran_->source, environment_, settings_.kv_type, {ran_sequences_, ran_->shape.rows, ran_asked_, touched}, out);
}

}  // namespace teapot::cpu
