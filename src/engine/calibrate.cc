#include "engine/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/open_slots.h"

namespace teapot::engine {
namespace {

constexpr uint32_t kMeasuredPrefill = 64;  // rows: more of them cost what the line says, or a little less
constexpr uint32_t kTimed = 2;             // runs of a prefill shape; the faster one counts
constexpr uint32_t kDraftRuns = 4;
constexpr uint32_t kRunsOfAState = plan::kHiddenRows - 1;  // decode steps, then its MTP layer would have to catch up

// Tokens differ, as they will: with equal ones a mixture of experts would have half the work.
int32_t some_token(uint64_t index, uint32_t vocab) { return static_cast<int32_t>((index + 1) * 2654435761u % vocab); }

// The fastest of the last `timed` of so many runs, in ms. prepare(i) makes the packet of run i.
template <class Prepare>
Result<double> fastest(plan::Backend& backend, plan::PlanId plan, const plan::StepPacket& packet, uint32_t times, uint32_t timed,
                       Prepare&& prepare) {
  plan::StepResult result;
  double least = 0;
  for (uint32_t i = 0; i < times; ++i) {
    prepare(i);
    const auto start = std::chrono::steady_clock::now();
    TEAPOT_CHECK(backend.run(plan, packet, result));
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (i + timed >= times && (least == 0 || ms < least)) least = ms;
  }
  return least;
}

// `rows` rows of so many sequences, one run after the other.
Result<double> model_ms(plan::Backend& backend, plan::PlanId plan, uint32_t rows, uint32_t sequences, uint32_t vocab, uint32_t times,
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
  return fastest(backend, plan, packet, times, timed, [&](uint32_t i) {
    packet.tokens.clear();
    for (uint32_t row = 0; row < rows; ++row) packet.tokens.push_back(some_token(uint64_t{i} * rows + row, vocab));
    for (plan::SequenceRows& sequence : packet.sequences) sequence.position = i * sequence.rows;
  });
}

// Draft steps of so many sequences, all after one token.
Result<double> draft_ms(plan::Backend& backend, PlanCache& plans, uint32_t sequences, uint32_t vocab, uint32_t ids) {
  OpenSlots slots(backend);
  plan::StepPacket packet;
  for (uint32_t s = 0; s < sequences; ++s) {
    TEAPOT_TRY(const plan::SlotId slot, slots.open(2));
    packet.tokens.push_back(some_token(s, vocab));
    packet.sequences.push_back({.slot = slot, .first_row = s, .rows = 1, .position = 0});
  }
  packet.returns.assign(sequences, plan::RowReturn::kNothing);
  TEAPOT_TRY(const plan::PlanId first, plans.prepare({sequences, plan::PlanKind::kModelMtp}));
  plan::StepResult result;
  TEAPOT_CHECK(backend.run(first, packet, result));
  TEAPOT_TRY(const plan::PlanId plan, plans.prepare({sequences, plan::PlanKind::kDraft}));
  packet.returns.assign(sequences, plan::RowReturn::kDraft);
  if (ids < vocab) packet.head_rows = {{0, ids / plan::kHeadRowGroup * plan::kHeadRowGroup}};
  for (plan::SequenceRows& sequence : packet.sequences) {
    sequence.position = 1;
    sequence.kind = plan::StepKind::kDraft;
  }
  return fastest(backend, plan, packet, kDraftRuns, kDraftRuns - 1, [&](uint32_t i) {
    for (uint32_t s = 0; s < sequences; ++s) packet.tokens[s] = some_token(uint64_t{i + 1} * sequences + s, vocab);
  });
}

}  // namespace

Result<double> draft_ms(plan::Backend& backend, PlanCache& plans, uint32_t vocab, uint32_t ids) {
  return draft_ms(backend, plans, 1, vocab, ids);
}

Status calibrate(plan::Backend& backend, PlanCache& plans, const SchedulerOptions& options, uint32_t vocab, uint32_t warmup, StepCost& cost,
                 StepCost& draft_cost) {
  const bool drafts = options.draft_limit > 0;
  const bool limited = (std::isfinite(options.tpot_stretch) && options.max_seqs > 1) || drafts;
  for (const uint32_t rows : cost.nodes()) {
    const bool decode = rows <= options.max_seqs;
    if (!decode && (!limited || rows > std::min(kMeasuredPrefill, options.prefill_chunk))) break;
    const bool mtp = drafts && !decode;
    TEAPOT_TRY(const plan::PlanId plan, plans.prepare({rows, mtp ? plan::PlanKind::kModelMtp : plan::PlanKind::kModel}));
    double ms = 0;
    for (uint32_t left = decode ? warmup + 1 : kTimed; left > 0;) {
      const uint32_t times = std::min(left, kRunsOfAState);
      left -= times;
      TEAPOT_TRY(ms, model_ms(backend, plan, rows, decode ? rows : 1, vocab, times, decode ? 1 : kTimed));
    }
    cost.observe(rows, ms);
  }
  if (!drafts) return {};
  for (const uint32_t sequences : draft_cost.nodes()) {
    TEAPOT_TRY(const double ms, draft_ms(backend, plans, sequences, vocab, options.draft_vocab.value_or(vocab)));
    draft_cost.observe(sequences, ms);
  }
  return {};
}

}  // namespace teapot::engine
