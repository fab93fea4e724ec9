#include "cpu/executor.h"

#include <algorithm>
#include <limits>

#include "cpu/ops/wanted_rows.h"
#include "cpu/traffic.h"
#include "plan/check.h"
#include "plan/check_packet.h"

namespace teapot::cpu {
namespace {

constexpr size_t kHostPieces = 4;  // of a step, beside the binding of its ops

size_t row_floats(const BoundOp& op) {
  return std::visit([](const auto& bound) { return bound.row_floats(); }, op);
}

void begin_row(const BoundOp& op, const Step& step, size_t row, size_t worker) {
  std::visit([&](const auto& bound) { bound.begin_row(step, row, worker); }, op);
}

void finish(const BoundOp& op, Step& step) {
  std::visit([&](const auto& bound) { bound.finish(step); }, op);
}

}  // namespace

template <class F>
auto Executor::timed(plan::HostWork work, const char* what, F&& fn) {
  struct Stop {
    std::vector<plan::HostSpan>& host;
    plan::HostSpan span;
    ~Stop() {
      span.ended = ticks();
      host.push_back(span);
    }
  } stop{host_, {work, what, ticks(), 0}};
  return fn();
}

Executor::Executor(const Binder::Environment& environment, ThreadTeam& team, const Settings& settings)
    : environment_(environment),
      team_(team),
      settings_(settings),
      scratch_("scratch memory of a plan", settings.pages),
      worker_scratch_("scratch memory of the threads", settings.pages),
      logits_("logits", settings.pages),
      zones_(team.workers()) {}

Result<std::unique_ptr<Executor::Prepared>> Executor::bind_all(const plan::Plan& plan) {
  auto prepared = std::make_unique<Prepared>(Prepared{plan, {}, {}, {}, 0, std::numeric_limits<size_t>::max(), 0});
  const plan::Plan& source = prepared->source;
  TEAPOT_TRY(prepared->groups, group_ops(source));
  Binder binder(source, environment_, constants_);
  for (const OpGroup& group : prepared->groups) prepared->ops.push_back(bind(group, source, binder));
  const auto limit_tokens = [&](plan::MatrixId table) {
    prepared->token_limit = std::min<size_t>(prepared->token_limit, binder.matrix(table).rows);
  };
  for (const plan::Op& op : source.ops) {
    if (const auto* embed = std::get_if<plan::Embed>(&op)) limit_tokens(embed->table);
    if (const auto* combine = std::get_if<plan::MtpCombine>(&op)) limit_tokens(combine->table);
    if (const auto* head = std::get_if<plan::Head>(&op)) prepared->vocab = binder.matrix(head->matrix).rows;
  }
  prepared->padded = binder.padded();
  prepared->scratch_bytes = binder.scratch_bytes();
  worker_stride_ = std::max<uint64_t>(worker_stride_, binder.worker_bytes());
  return prepared;
}

Result<plan::PlanId> Executor::prepare(const plan::Plan& plan) {
  TEAPOT_CHECK(plan::check(plan, environment_.weights.table(), environment_.layout));
  if (plans_.size() >= 0xffff) return fail(ErrorKind::kInternal, "more than {} plans", 0xffff);
  TEAPOT_TRY(std::unique_ptr<Prepared> prepared, bind_all(plan));
  if (!settings_.allocate_each_step) {
    TEAPOT_TRY(const bool moved, scratch_.grow(prepared->scratch_bytes));
    if (moved) last_ = nullptr;
    TEAPOT_CHECK(scratch_.touch(prepared->scratch_bytes));
    TEAPOT_CHECK(worker_scratch_.grow(worker_stride_ * team_.workers()));
    TEAPOT_CHECK(worker_scratch_.touch(worker_stride_ * team_.workers()));
  }
  // Only steps that return logits touch these, and only as many rows as are asked for.
  TEAPOT_CHECK(logits_.grow(uint64_t{plan.shape.rows} * prepared->vocab * sizeof(float)));
  if (settings_.plan != PlanMode::kStatic) prepared->ops.clear();
  places_.reserve(plan.shape.rows);
  ran_sequences_.reserve(plan.shape.rows);
  ran_pending_.reserve(plan.shape.rows);
  ran_experts_.reserve(prepared->groups.size());
  host_.reserve(prepared->groups.size() + kHostPieces);
  plans_.push_back(std::move(prepared));
  return static_cast<plan::PlanId>(plans_.size() - 1);
}

Status Executor::check(plan::PlanId id, const plan::StepPacket& packet) const {
  if (static_cast<size_t>(id) >= plans_.size()) return fail(ErrorKind::kInternal, "plan {} of {}", static_cast<size_t>(id), plans_.size());
  const Prepared& prepared = *plans_[static_cast<size_t>(id)];
  return plan::check_packet(packet, {.rows = prepared.source.shape.rows, .tokens = prepared.token_limit, .vocab = prepared.vocab});
}

Status Executor::run(plan::PlanId id, const plan::StepPacket& packet, std::span<SequenceState* const> states, plan::StepResult& result) {
  const Prepared& prepared = *plans_[static_cast<size_t>(id)];
  const size_t rows = prepared.source.shape.rows;
  began_ = ticks();
  host_.clear();
  logits_.drop_outgrown();
  result.rows.clear();
  result.taps.clear();
  bool keep_logits = environment_.levers.full_logits, keep_top = false;
  for (uint32_t row = 0; row < rows; ++row) {
    if (packet.returns[row] != plan::RowReturn::kNothing) result.rows.push_back(row);
    keep_logits = keep_logits || keeps_logits(packet.returns[row]);
    keep_top = keep_top || packet.returns[row] == plan::RowReturn::kTopK;
  }
  result.argmax.assign(result.rows.size(), -1);
  result.max.assign(result.rows.size(), 0);
  result.probability.assign(result.rows.size(), 0);
  result.top.assign(result.rows.size(), {});
  result.logits.assign(result.rows.size(), {});
  if (keep_top) top_.resize(std::max(top_.size(), result.rows.size() * packet.top_k));
  if (keep_logits) {
    TEAPOT_CHECK(timed(plan::HostWork::kAllocate, "logits",
                       [&] { return logits_.touch(uint64_t{result.rows.size()} * prepared.vocab * sizeof(float)); }));
  }

  HeapScratch heap, worker_heap;
  if (settings_.allocate_each_step) {
    const auto allocate = [&](const char* what, uint64_t bytes) {
      return timed(plan::HostWork::kAllocate, "scratch", [&] { return allocate_scratch(what, bytes); });
    };
    TEAPOT_TRY(heap, allocate("scratch memory of a step", prepared.scratch_bytes));
    TEAPOT_TRY(worker_heap, allocate("scratch memory of the threads", worker_stride_ * team_.workers()));
    last_ = nullptr;
  }
  places_.clear();
  for (size_t s = 0; s < states.size(); ++s) {
    const plan::SequenceRows& sequence = packet.sequences[s];
    for (uint32_t i = 0; i < sequence.rows; ++i) places_.push_back({states[s], sequence.position + i});
  }
  Step step{.kernels = environment_.kernels,
            .team = team_,
            .scratch = heap ? heap.get() : scratch_.data(),
            .worker_scratch = heap ? worker_heap.get() : worker_scratch_.data(),
            .worker_stride = worker_stride_,
            .logits = reinterpret_cast<float*>(logits_.data()),
            .top = top_.data(),
            .kv_type = settings_.kv_type,
            .sync = settings_.sync,
            .packet = packet,
            .states = states,
            .places = places_,
            .result = result,
            .saturated = saturated_};
  if (last_ != &prepared) {  // another plan left its values where this one's rows end
    for (const ScratchRows<float>& padded : prepared.padded) {
      for (size_t row = 0; row < rows; ++row) padded.clear_padding(step, row);
    }
    last_ = &prepared;
  }
  for (ZoneRing& zones : zones_) zones.clear();
  ran_experts_.clear();
  switch (settings_.plan) {
    case PlanMode::kStatic:
      run_region(step, prepared.groups, prepared.ops);
      break;
    case PlanMode::kDynamic: {
      const std::vector<BoundOp> ops = timed(plan::HostWork::kPlan, "bind", [&] {
        Binder binder(prepared.source, environment_, constants_);
        std::vector<BoundOp> bound;
        bound.reserve(prepared.groups.size());
        for (const OpGroup& group : prepared.groups) bound.push_back(bind(group, prepared.source, binder));
        return bound;
      });
      run_region(step, prepared.groups, ops);
      break;
    }
    case PlanMode::kEager: {
      Binder binder(prepared.source, environment_, constants_);
      for (const OpGroup& group : prepared.groups) {
        const BoundOp op = timed(plan::HostWork::kPlan, "bind", [&] { return bind(group, prepared.source, binder); });
        run_region(step, {&group, 1}, {&op, 1});
      }
      break;
    }
  }
  if (heap) {
    timed(plan::HostWork::kAllocate, "scratch", [&] {
      heap.reset();
      worker_heap.reset();
    });
  }
  ran_pending_.clear();
  for (size_t s = 0; s < states.size(); ++s) {
    ran_pending_.push_back(states[s]->pending());
    states[s]->commit(prepared.source.shape.kind, packet.sequences[s]);
  }
  ran_ = &prepared;
  ran_sequences_.assign(packet.sequences.begin(), packet.sequences.end());
  ran_asked_ = result.rows.size();
  ran_head_rows_ = WantedRows(packet, prepared.vocab).size();
  ended_ = ticks();
  return {};
}

// One parallel region for all the ops: an op's end, the next one's rows and the barrier between them are one meeting of the workers.
void Executor::run_region(Step& step, std::span<const OpGroup> groups, std::span<const BoundOp> ops) {
  const size_t rows = step.rows();
  const bool alone = step.folds(rows, row_floats(ops.front()));  // the first op's rows, before the others are woken
  if (alone) {
    for (size_t row = 0; row < rows; ++row) begin_row(ops.front(), step, row, 0);
  }
  team_.run([&](size_t index) {
    Worker worker(step, index, zones_[index]);
    worker.enter(groups.front().index);
    if (!alone) {
      worker.phase("rows", rows, [&](size_t row) { begin_row(ops.front(), step, row, index); });
      worker.sync();
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      worker.enter(groups[i].index);
      std::visit([&](const auto& op) { op.run(worker); }, ops[i]);
      if (i + 1 == ops.size()) {
        worker.sync([&] { finish(ops[i], step); });
      } else {
        const BoundOp& next = ops[i + 1];
        worker.sync_rows(
            "rows", groups[i + 1].index, rows, row_floats(next), [&] { finish(ops[i], step); },
            [&](size_t row) { begin_row(next, step, row, index); }, [] {});
      }
    }
  });
  for (const BoundOp& op : ops) {
    const auto* const moe = std::get_if<MoeOp>(&op);
    ran_experts_.push_back(moe == nullptr ? 0 : moe->touched_last());
  }
}

void Executor::traffic(std::vector<plan::OpTraffic>& out) const {
  out.clear();
  if (ran_ == nullptr) return;
  std::vector<uint32_t> touched(ran_->source.ops.size());
  for (size_t i = 0; i < ran_->groups.size(); ++i) touched[ran_->groups[i].index] = ran_experts_[i];
  count_traffic(ran_->source, environment_, {settings_.kv_type, settings_.bf16_state},
                {ran_sequences_, ran_pending_, ran_->source.shape.rows, ran_asked_, ran_head_rows_, touched}, out);
}

void Executor::trace(plan::StepTrace& out) const {
  out.began = began_;
  out.ended = ended_;
  out.dropped = 0;
  out.workers.resize(ran_ == nullptr ? 0 : zones_.size());
  for (size_t worker = 0; worker < out.workers.size(); ++worker) {
    zones_[worker].spans(out.workers[worker]);
    out.dropped += zones_[worker].written() - out.workers[worker].size();
  }
  out.host.assign(host_.begin(), host_.end());
}

std::vector<std::string> Executor::op_names(plan::PlanId id) const {
  std::vector<std::string> names;
  std::array<size_t, plan::kOpNames.size()> seen{};
  for (const plan::Op& op : plans_.at(static_cast<size_t>(id))->source.ops) {
    names.push_back(fmt::format("{} {}", plan::op_name(op), seen[op.index()]++));
  }
  return names;
}

plan::StepShares Executor::shares() const {
  const auto all = static_cast<double>((ended_ - began_) * zones_.size());
  uint64_t waited = 0, replayed = 0;
  for (const ZoneRing& zones : zones_) {
    waited += zones.waited();
    replayed += zones.replayed();
  }
  return all == 0 ? plan::StepShares{} : plan::StepShares{static_cast<double>(waited) / all, static_cast<double>(replayed) / all};
}

}  // namespace teapot::cpu
