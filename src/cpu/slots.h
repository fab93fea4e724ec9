// The open states of a backend: slots by number, their memory, what is shared between them.
#pragma once

#include <memory>
#include <vector>

#include "cpu/sequence_state.h"
#include "cpu/thread_team.h"

namespace teapot::cpu {

class Slots {
 public:
  // The team copies and clears; it must outlive the slots. No step may run meanwhile.
  Slots(const plan::StateLayout& layout, KvType kv_type, bool bf16_recurrent, Pages pages, ThreadTeam& team);

  // All as plan::StateStore has it.
  Result<plan::SlotId> open(uint32_t tokens);
  Result<plan::SlotId> fork(plan::SlotId from, uint32_t position, uint32_t tokens);
  Status accept(plan::SlotId slot, uint32_t rows);
  void close(plan::SlotId slot);
  void seal(plan::SlotId slot) { find(slot)->seal(pages_); }
  plan::StateStore::Usage usage() const;

  // Null if it is not open.
  SequenceState* find(plan::SlotId slot) const {
    return static_cast<size_t>(slot) < slots_.size() ? slots_[static_cast<size_t>(slot)].get() : nullptr;
  }
  // Pages for the rows of a step of a plan of that kind. The error says which slot has no room, or is not where the rows want it.
  Status prepare(const plan::SequenceRows& rows, plan::PlanKind kind);

  const StateSizes& sizes() const { return sizes_; }

 private:
  Status check_room(uint32_t tokens) const;
  Status check_place(const SequenceState& state, const plan::SequenceRows& rows, plan::PlanKind kind) const;
  // Own memory of a state; cleared, unless it is going to be written anyway.
  Result<Arena> take_memory(bool cleared);
  Result<plan::SlotId> place(SequenceState state);

  const StateSizes sizes_;
  const Pages page_size_;
  ThreadTeam& team_;
  KvPages pages_;
  std::vector<std::unique_ptr<SequenceState>> slots_;
  std::vector<Arena> kept_;  // of closed states
  uint32_t open_ = 0;
};

}  // namespace teapot::cpu
