#include "workbench/decode_loop.h"

#include <algorithm>

namespace teapot::workbench {
namespace {

constexpr uint32_t kPrefillRows = 256;

}  // namespace

DecodeLoop::DecodeLoop(const model::Model& model, plan::Backend& backend, const DecodeLoad& load)
    : model_(model), backend_(backend), load_(load), plans_(backend, model), slots_(backend) {}

Result<std::unique_ptr<DecodeLoop>> DecodeLoop::create(const model::Model& model, plan::Backend& backend, const DecodeLoad& load,
                                                       uint32_t steps) {
  std::unique_ptr<DecodeLoop> loop(new DecodeLoop(model, backend, load));
  TEAPOT_CHECK(loop->open(steps + kWarmupSteps));
  engine::StepRecorder nobody(backend);
  for (uint32_t i = 0; i < kWarmupSteps; ++i) TEAPOT_CHECK(loop->step(nobody));
  return loop;
}

Status DecodeLoop::open(uint32_t steps) {
  const uint32_t c = load_.sequences, rows = load_.drafts + 1;
  for (uint32_t s = 0; s < c; ++s) TEAPOT_CHECK(slots_.open(load_.prompt + steps * rows));
  TEAPOT_CHECK(prefill());
  const std::vector<int32_t> next = std::exchange(packet_.tokens, {});
  packet_.sequences.clear();
  for (uint32_t s = 0; s < c; ++s) {
    const plan::StepKind kind = load_.drafts > 0 ? plan::StepKind::kVerify : plan::StepKind::kDecode;
    packet_.sequences.push_back({slots_.ids()[s], s * rows, rows, load_.prompt, kind});
    for (uint32_t row = 0; row < rows; ++row) packet_.tokens.push_back(static_cast<int32_t>((next[s] + row * 101u) % model_.config.vocab));
  }
  packet_.returns.assign(c * rows, plan::RowReturn::kArgmax);
  TEAPOT_TRY(plan_, plans_.prepare({c * rows, load_.drafts > 0 ? plan::PlanKind::kModelMtp : plan::PlanKind::kModel}));
  return {};
}

// Leaves each sequence's first token in the packet.
Status DecodeLoop::prefill() {
  std::vector<int32_t> next;
  const plan::PlanKind kind = load_.drafts > 0 ? plan::PlanKind::kModelMtp : plan::PlanKind::kModel;
  for (uint32_t s = 0; s < load_.sequences; ++s) {
    for (uint32_t first = 0; first < load_.prompt; first += kPrefillRows) {
      const uint32_t rows = std::min(kPrefillRows, load_.prompt - first);
      TEAPOT_TRY(const plan::PlanId plan, plans_.prepare({rows, kind}));
      packet_.tokens.clear();
      for (uint32_t i = 0; i < rows; ++i) {
        packet_.tokens.push_back(static_cast<int32_t>((uint64_t{s} * 7919 + first + i * 37) % model_.config.vocab));
      }
      packet_.sequences = {{slots_.ids()[s], 0, rows, first}};
      packet_.returns.assign(rows, plan::RowReturn::kNothing);
      packet_.returns.back() = plan::RowReturn::kArgmax;
      TEAPOT_CHECK(backend_.run(plan, packet_, result_));
    }
    next.push_back(std::max(0, result_.argmax.at(0)));
  }
  packet_.tokens = next;
  return {};
}

Status DecodeLoop::step(engine::StepRecorder& recorder) {
  const uint32_t rows = load_.drafts + 1;
  recorder.begin_step();
  {
    const auto running = recorder.slice("sched", "run");
    TEAPOT_CHECK(backend_.run(plan_, packet_, result_));
    recorder.ran("", plan_);
  }
  {
    const auto building = recorder.slice("copy", "packet");
    for (uint32_t row = 0; row < packet_.tokens.size(); ++row) packet_.tokens[row] = std::max(0, result_.argmax[row]);
    for (plan::SequenceRows& sequence : packet_.sequences) {
      sequence.position += rows;
      if (load_.drafts > 0) TEAPOT_CHECK(backend_.accept(sequence.slot, rows));
    }
  }
  engine::StepRecord record;
  record.decode_rows = record.tokens = static_cast<uint32_t>(packet_.tokens.size());
  record.verify = load_.drafts > 0;
  recorder.end_step(record);
  return {};
}

}  // namespace teapot::workbench
