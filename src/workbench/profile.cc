#include "workbench/profile.h"

#include "base/ticks.h"
#include "engine/open_slots.h"
#include "engine/plan_cache.h"
#include "workbench/roof.h"

namespace teapot::workbench {
namespace {

constexpr uint64_t kSpareBytes = uint64_t{512} << 20;  // beside states and working set: plans, page tables, the system
constexpr uint32_t kPrefillRows = 256;
constexpr uint32_t kWarmupSteps = 3;

plan::PlanKind kind_of(const ProfileOptions& options) { return options.drafts > 0 ? plan::PlanKind::kModelMtp : plan::PlanKind::kModel; }

// Reads the prompts; leaves each sequence's first token in `packet`.
Status prefill(plan::Backend& backend, engine::PlanCache& plans, const std::vector<plan::SlotId>& slots, const ProfileOptions& options,
               uint32_t vocab, std::vector<int32_t>& next) {
  plan::StepPacket packet;
  plan::StepResult result;
  for (uint32_t s = 0; s < slots.size(); ++s) {
    for (uint32_t first = 0; first < options.prompt; first += kPrefillRows) {
      const uint32_t rows = std::min(kPrefillRows, options.prompt - first);
      TEAPOT_TRY(const plan::PlanId plan, plans.prepare({rows, kind_of(options)}));
      packet.tokens.clear();
      for (uint32_t i = 0; i < rows; ++i) packet.tokens.push_back(static_cast<int32_t>((uint64_t{s} * 7919 + first + i * 37) % vocab));
      packet.sequences = {{slots[s], 0, rows, first}};
      packet.returns.assign(rows, plan::RowReturn::kNothing);
      packet.returns.back() = plan::RowReturn::kArgmax;
      TEAPOT_CHECK(backend.run(plan, packet, result));
    }
    next.push_back(std::max(0, result.argmax.at(0)));
  }
  return {};
}

// What each op of the plan has to move. A router is run together with its experts, whose spans are both's: its bytes go there.
std::vector<OpBytes> bytes_of(const std::vector<plan::OpTraffic>& traffic, const std::vector<std::string>& ops) {
  std::vector<OpBytes> result(ops.size());
  for (const plan::OpTraffic& entry : traffic) {
    size_t op = entry.op;
    while (op < ops.size() && ops[entry.op].starts_with("route ") && !ops[op].starts_with("moe ")) ++op;
    OpBytes& bytes = result.at(op);
    bytes.bytes += entry.bytes();
    if (op == entry.op && bytes.part.empty()) bytes.part = plan::name(entry.part);
  }
  return result;
}

}  // namespace

Result<Profile> measure_profile(const model::Model& model, plan::Backend& backend, const ProfileOptions& options) {
  Profile profile{options, backend.workers(), 0, 0, 0, {}, {}, {}};
  engine::PlanCache plans(backend, model);
  engine::OpenSlots slots(backend);
  const uint32_t c = options.sequences, rows = options.drafts + 1;
  for (uint32_t s = 0; s < c; ++s) TEAPOT_CHECK(slots.open(options.prompt + (kWarmupSteps + options.steps) * rows));
  plan::StepPacket packet;
  std::vector<int32_t> next;
  TEAPOT_CHECK(prefill(backend, plans, slots.ids(), options, model.config.vocab, next));
  TEAPOT_TRY(const plan::PlanId plan, plans.prepare({c * rows, kind_of(options)}));
  for (uint32_t s = 0; s < c; ++s) {
    packet.sequences.push_back(
        {slots.ids()[s], s * rows, rows, options.prompt, options.drafts > 0 ? plan::StepKind::kVerify : plan::StepKind::kDecode});
    for (uint32_t row = 0; row < rows; ++row) packet.tokens.push_back(static_cast<int32_t>((next[s] + row * 101u) % model.config.vocab));
  }
  packet.returns.assign(c * rows, plan::RowReturn::kArgmax);

  TEAPOT_TRY(const WorkingSet set, choose_working_set(kSpareBytes));
  TEAPOT_TRY(ReadMeter reader, ReadMeter::create(Crew::of(backend), set));
  TEAPOT_TRY(const ReadKernel kernel, reader.fastest(profile.workers));
  plan::StepResult result;
  const auto step = [&]() -> Status {
    TEAPOT_CHECK(backend.run(plan, packet, result));
    for (uint32_t row = 0; row < c * rows; ++row) packet.tokens[row] = std::max(0, result.argmax[row]);
    for (plan::SequenceRows& sequence : packet.sequences) {
      sequence.position += rows;
      if (options.drafts > 0) TEAPOT_CHECK(backend.accept(sequence.slot, rows));
    }
    return {};
  };
  for (uint32_t i = 0; i < kWarmupSteps; ++i) TEAPOT_CHECK(step());
  TEAPOT_TRY(const double before, reader.pass(kernel, profile.workers));
  for (uint32_t i = 0; i < options.steps; ++i) {
    TEAPOT_CHECK(step());
    plan::StepTrace& trace = profile.traces.emplace_back(backend.trace());
    if (trace.dropped > 0) return fail(ErrorKind::kInternal, "{} of the step's phases were not remembered", trace.dropped);
    const double us = static_cast<double>(trace.ended - trace.began) / ticks_per_ns() / 1000;
    profile.step_us += us / options.steps;
    profile.replay_us += us * backend.shares().replaying / options.steps;
  }
  std::vector<plan::OpTraffic> traffic;
  backend.traffic(traffic);
  TEAPOT_TRY(const double after, reader.pass(kernel, profile.workers));
  profile.read_gbs = (before + after) / 2;
  profile.op_bytes = bytes_of(traffic, profile.traces.back().ops);
  profile.rows = profile_rows(profile.traces, profile.op_bytes);
  return profile;
}

}  // namespace teapot::workbench
