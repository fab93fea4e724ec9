// Slots that are closed with the object.
#pragma once

#include <vector>

#include "plan/backend.h"

namespace teapot::engine {

class OpenSlots {
 public:
  explicit OpenSlots(plan::StateStore& store) : store_(store) {}
  OpenSlots(const OpenSlots&) = delete;
  OpenSlots& operator=(const OpenSlots&) = delete;
  ~OpenSlots() {
    for (const plan::SlotId slot : ids_) store_.close_slot(slot);
  }

  Result<plan::SlotId> open(uint32_t tokens) {
    TEAPOT_TRY(const plan::SlotId slot, store_.open_slot(tokens));
    ids_.push_back(slot);
    return slot;
  }
  const std::vector<plan::SlotId>& ids() const { return ids_; }

 private:
  plan::StateStore& store_;
  std::vector<plan::SlotId> ids_;
};

}  // namespace teapot::engine
