#include "engine/warm_up.h"

namespace teapot::engine {
namespace {

// Closes its slots on every way out.
struct Slots {
  plan::Backend& backend;
  std::vector<plan::SlotId> ids = {};

  explicit Slots(plan::Backend& b) : backend(b) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots() {
    for (const plan::SlotId id : ids) backend.close_slot(id);
  }
};

}  // namespace

Status warm_up(plan::Backend& backend, plan::PlanId plan, plan::StepShape shape, uint32_t sequences, uint32_t times) {
  if (times == 0) return {};
  Slots slots(backend);
  plan::StepPacket packet;
  packet.tokens.assign(shape.rows, 0);
  packet.returns.assign(shape.rows, plan::RowReturn::kNothing);
  for (uint32_t s = 0; s < sequences; ++s) {
    const uint32_t first = shape.rows * s / sequences;
    const uint32_t rows = shape.rows * (s + 1) / sequences - first;
    TEAPOT_TRY(const plan::SlotId slot, backend.open_slot(rows * times));
    slots.ids.push_back(slot);
    packet.sequences.push_back({.slot = slot, .first_row = first, .rows = rows, .position = 0});
    packet.returns[first + rows - 1] = plan::RowReturn::kLogits;
  }
  plan::StepResult result;
  for (uint32_t i = 0; i < times; ++i) {
    TEAPOT_CHECK(backend.run(plan, packet, result));
    for (plan::SequenceRows& sequence : packet.sequences) sequence.position += sequence.rows;
  }
  return {};
}

}  // namespace teapot::engine
