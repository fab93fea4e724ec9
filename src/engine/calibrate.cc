#include "engine/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/open_slots.h"

namespace teapot::engine {
namespace {

constexpr uint32_t kMeasuredPrefill = 64;  // rows: more of them cost what the line says, or a little less
constexpr uint32_t kTimed = 2;             // runs of a prefill shape; the faster one counts

// Runs `rows` rows of so many sequences so many times; the fastest of the last `timed` runs, in ms. Tokens differ, as they will: with equal
// ones a mixture of experts would have half the work.
Result<double> run(plan::Backend& backend, plan::PlanId plan, uint32_t rows, uint32_t sequences, uint32_t vocab, uint32_t times,
                   uint32_t timed) {
  OpenSlots slots(backend);
  plan::StepPacket packet;
  packet.returns.assign(rows, plan::RowReturn::kNothing);
  for (uint32_t s = 0; s < sequences; ++s) {
    const uint32_t first = rows * s / sequences, count = rows * (s + 1) / sequences - first;
    TEAPOT_TRY(const plan::SlotId slot, slots.open(count * times));
    packet.sequences.push_back({.slot = slot, .first_row = first, .rows = count, .position = 0});
    packet.returns[first + count - 1] = plan::RowReturn::kArgmax;
  }
  plan::StepResult result;
  double fastest = 0;
  for (uint32_t i = 0; i < times; ++i) {
    packet.tokens.clear();
    for (uint32_t row = 0; row < rows; ++row) {
      packet.tokens.push_back(static_cast<int32_t>((uint64_t{i} * rows + row + 1) * 2654435761u % vocab));
    }
    const auto start = std::chrono::steady_clock::now();
    TEAPOT_CHECK(backend.run(plan, packet, result));
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (i + timed >= times && (fastest == 0 || ms < fastest)) fastest = ms;
    for (plan::SequenceRows& sequence : packet.sequences) sequence.position += sequence.rows;
  }
  return fastest;
}

}  // namespace

Status calibrate(plan::Backend& backend, PlanCache& plans, const SchedulerOptions& options, uint32_t vocab, uint32_t warmup,
                 StepCost& cost) {
  const bool limited = std::isfinite(options.tpot_stretch) && options.max_seqs > 1;
  for (const uint32_t rows : cost.nodes()) {
    const bool decode = rows <= options.max_seqs;
    if (!decode && (!limited || rows > std::min(kMeasuredPrefill, options.prefill_chunk))) break;
    TEAPOT_TRY(const plan::PlanId plan, plans.prepare({rows}));
    const uint32_t timed = decode ? 1 : kTimed;
    TEAPOT_TRY(const double ms, run(backend, plan, rows, decode ? rows : 1, vocab, decode ? warmup + 1 : kTimed, timed));
    cost.observe(rows, ms);
  }
  return {};
}

}  // namespace teapot::engine
