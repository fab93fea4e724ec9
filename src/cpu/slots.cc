#include "cpu/slots.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/memory.h"

namespace teapot::cpu {
namespace {

// A step ends one sequence and begins another as a rule; more memory than that is not worth keeping.
constexpr size_t kKeptStates = 4;

// fn(begin, end) over pieces of `bytes`, one a worker.
template <class F>
void in_pieces(ThreadTeam& team, uint64_t bytes, F&& fn) {
  const uint64_t piece = align_up((bytes + team.workers() - 1) / team.workers(), 4096);
  team.run([&](size_t worker) {
    const uint64_t begin = std::min(bytes, worker * piece);
    fn(begin, std::min(bytes, begin + piece));
  });
}

Status check_settled(const char* what, plan::SlotId slot, const SequenceState& state) {
  if (state.unsettled() == 0) return {};
  return fail(ErrorKind::kInternal, "{}: slot {} has {} rows of which nobody said how many hold", what, static_cast<size_t>(slot),
              state.unsettled());
}

}  // namespace

Slots::Slots(const plan::StateLayout& layout, KvType kv_type, bool bf16_recurrent, Pages pages, ThreadTeam& team)
    : sizes_(layout, kv_type, bf16_recurrent), page_size_(pages), team_(team), pages_(sizes_.page_bytes, pages) {}

// What the open slots will still take counts as taken.
Status Slots::check_room(uint32_t tokens) const {
  if (open_ >= 0xffff) return fail(ErrorKind::kMemory, "more than {} sequences", 0xffff);
  uint64_t promised = 0;
  for (const auto& slot : slots_) {
    if (slot) promised += (StateSizes::pages_of(slot->capacity()) - slot->pages().size()) * sizes_.page_bytes;
  }
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  const uint64_t available = memory.available_bytes + usage().kept_bytes;
  if (promised + sizes_.state_bytes(tokens) <= available) return {};
  return fail(ErrorKind::kMemory, "a sequence of {} tokens needs {} bytes; {} are available ({}), of which open sequences may take {}",
              tokens, sizes_.state_bytes(tokens), available, memory.limited_by, promised);
}

Result<Arena> Slots::take_memory(bool cleared) {
  if (kept_.empty()) return Arena::reserve("the state of a sequence", sizes_.own_bytes, page_size_);
  Arena arena = std::move(kept_.back());
  kept_.pop_back();
  if (cleared) in_pieces(team_, sizes_.own_bytes, [&](uint64_t begin, uint64_t end) { std::memset(arena.data() + begin, 0, end - begin); });
  return arena;
}

Result<plan::SlotId> Slots::place(SequenceState state) {
  const auto free = std::ranges::find_if(slots_, [](const auto& slot) { return !slot; });
  const auto index = static_cast<size_t>(free - slots_.begin());
  if (free == slots_.end()) slots_.emplace_back();
  slots_[index] = std::make_unique<SequenceState>(std::move(state));
  ++open_;
  return static_cast<plan::SlotId>(index);
}

Result<plan::SlotId> Slots::open(uint32_t tokens) {
  TEAPOT_CHECK(check_room(tokens));
  TEAPOT_TRY(Arena arena, take_memory(true));
  return place(SequenceState(sizes_, std::move(arena), tokens));
}

Result<plan::SlotId> Slots::fork(plan::SlotId from, uint32_t position, uint32_t tokens) {
  const SequenceState* const source = find(from);
  if (source == nullptr) return fail(ErrorKind::kInternal, "fork: slot {} is not open", static_cast<size_t>(from));
  TEAPOT_CHECK(check_settled("fork", from, *source));
  const bool there = sizes_.gdn_layers > 0 ? position == source->committed() : position <= source->committed();
  if (!there || position > tokens) {
    return fail(ErrorKind::kInternal, "fork: slot {} at {} of {} tokens, with room for {}", static_cast<size_t>(from), position,
                source->committed(), tokens);
  }
  TEAPOT_CHECK(check_room(tokens));
  TEAPOT_TRY(Arena arena, take_memory(false));
  SequenceState state(sizes_, std::move(arena), tokens);
  if (Status followed = state.follow(*source, position, pages_); !followed) {
    state.release(pages_);
    return std::unexpected(std::move(followed).error());
  }
  in_pieces(team_, sizes_.own_bytes,
            [&](uint64_t begin, uint64_t end) { std::memcpy(state.arena().data() + begin, source->arena().data() + begin, end - begin); });
  return place(std::move(state));
}

Status Slots::accept(plan::SlotId slot, uint32_t rows) {
  SequenceState* const state = find(slot);
  if (state == nullptr) return fail(ErrorKind::kInternal, "accept: slot {} is not open", static_cast<size_t>(slot));
  if (rows == 0 || rows > state->unsettled()) {
    return fail(ErrorKind::kInternal, "accept: {} rows of slot {}, expected 1 to {}", rows, static_cast<size_t>(slot), state->unsettled());
  }
  state->accept(rows);
  return {};
}

void Slots::close(plan::SlotId slot) {
  SequenceState* const state = find(slot);
  assert(state != nullptr);
  state->release(pages_);
  if (sizes_.own_bytes > 0 && kept_.size() < kKeptStates) kept_.push_back(std::move(state->arena()));
  slots_[static_cast<size_t>(slot)].reset();
  --open_;
}

// Whether rows of such a plan may come next.
Status Slots::check_place(const SequenceState& state, const plan::SequenceRows& rows, plan::PlanKind kind) const {
  const auto slot = static_cast<size_t>(rows.slot);
  const uint64_t committed = state.committed(), seen = state.mtp_committed();
  const auto expect_position = [&](uint64_t first, uint64_t last) -> Status {
    if (rows.position >= first && rows.position <= last) return {};
    return fail(ErrorKind::kInternal, "packet: slot {} at position {} of a {} step, its state is at {}", slot, rows.position,
                plan::name(kind), first);
  };
  const auto expect_seen = [&]() -> Status {
    if (seen == committed) return {};
    return fail(ErrorKind::kInternal, "packet: slot {} in a {} step, but the MTP layer has seen {} of {} tokens", slot, plan::name(kind),
                seen, committed);
  };
  switch (kind) {
    case plan::PlanKind::kModel: {
      TEAPOT_CHECK(expect_position(committed, committed));
      const uint64_t behind = committed + rows.rows - seen;
      if (sizes_.hidden_stride == 0 || behind < plan::kHiddenRows) return {};
      return fail(ErrorKind::kInternal, "packet: slot {} leaves the MTP layer {} tokens behind, at most {} are allowed", slot, behind,
                  plan::kHiddenRows - 1);
    }
    case plan::PlanKind::kModelMtp:
      TEAPOT_CHECK(expect_position(committed, committed));
      return expect_seen();
    case plan::PlanKind::kMtpState:
      TEAPOT_CHECK(expect_position(seen, seen));
      if (rows.rows <= committed - seen) return {};
      return fail(ErrorKind::kInternal, "packet: {} rows of slot {}, whose MTP layer has seen {} of {} tokens", rows.rows, slot, seen,
                  committed);
    case plan::PlanKind::kDraft:
      TEAPOT_CHECK(expect_seen());
      TEAPOT_CHECK(expect_position(committed, state.draft_end()));
      if (rows.rows == 1) return {};
      return fail(ErrorKind::kInternal, "packet: {} rows of slot {} in a draft step, expected 1", rows.rows, slot);
  }
  std::unreachable();
}

Status Slots::prepare(const plan::SequenceRows& rows, plan::PlanKind kind) {
  const auto slot = static_cast<size_t>(rows.slot);
  SequenceState* const state = find(rows.slot);
  if (state == nullptr) return fail(ErrorKind::kInternal, "packet: slot {} is not open", slot);
  TEAPOT_CHECK(check_settled("packet", rows.slot, *state));
  if (rows.kind == plan::StepKind::kVerify && rows.rows > sizes_.verify_rows) {
    return fail(ErrorKind::kInternal, "packet: {} rows to verify of slot {}, states keep {}", rows.rows, slot, sizes_.verify_rows);
  }
  TEAPOT_CHECK(check_place(*state, rows, kind));
  const uint64_t end = uint64_t{rows.position} + rows.rows;
  if (end > state->capacity()) {
    return fail(ErrorKind::kInternal, "packet: slot {} has room for {} positions, {} were wanted", slot, state->capacity(), end);
  }
  return state->reach(static_cast<uint32_t>(end), pages_);
}

plan::StateStore::Usage Slots::usage() const {
  return {.slots = open_,
          .pages = pages_.in_use(),
          .bytes = open_ * sizes_.own_bytes + pages_.in_use() * sizes_.page_bytes,
          .kept_bytes = kept_.size() * sizes_.own_bytes + pages_.kept_bytes()};
}

}  // namespace teapot::cpu
