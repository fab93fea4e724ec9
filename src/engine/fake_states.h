// For tests: states of sequences without a model. A state is a hash over its tokens, as a recurrent state is one over all of them; its
// pages hold the tokens themselves, as KV pages hold something of each position. Before a step both must say the same: a page that is
// shared with the wrong sequence, or written to by another one, does not go unnoticed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "plan/backend.h"

namespace teapot::engine {

struct FakeSizes {
  bool recurrent = true;
  uint64_t own_bytes = 1 << 20;   // of a slot, besides its pages
  uint64_t page_bytes = 1 << 16;  // 0: no attention, no pages
  uint64_t memory_bytes = std::numeric_limits<uint64_t>::max();
};

class FakeStates {
 public:
  explicit FakeStates(const FakeSizes& sizes) : sizes_(sizes) {}

  struct State {
    uint32_t capacity = 0, committed = 0;
    uint64_t hash = kNoTokens;
    std::vector<plan::PageId> pages = {};
    bool broken = false;  // by a step that failed: may only be closed
    bool nan = false;     // its rows give NaN
    uint32_t mtp_committed = 0;
    uint64_t draft_hash = 0;               // after the last guess
    std::vector<int32_t> unverified = {};  // a kVerify step's, until they are accepted
  };

  static constexpr uint64_t kNoTokens = 0x9e3779b97f4a7c15;
  static constexpr uint64_t after(uint64_t hash, int32_t token) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0xd6e8feb86659fd93;
    return hash ^ hash >> 32;
  }

  Result<plan::SlotId> open(uint32_t tokens) {
    TEAPOT_CHECK(check_memory(tokens));
    return place({.capacity = tokens});
  }

  Result<plan::SlotId> fork(plan::SlotId from, uint32_t position, uint32_t tokens) {
    if (!is_open(from)) return fail(ErrorKind::kInternal, "fork: slot {} is not open", static_cast<size_t>(from));
    const State& source = slots_.at(from);
    const bool there = sizes_.recurrent ? position == source.committed : position <= source.committed;
    if (!there || position > tokens || source.broken || !source.unverified.empty()) {
      return fail(ErrorKind::kInternal, "fork: slot {} at {} of {} tokens, with room for {}, broken: {}", static_cast<size_t>(from),
                  position, source.committed, tokens, source.broken);
    }
    TEAPOT_CHECK(check_memory(tokens));
    State state{.capacity = tokens, .committed = position, .hash = sizes_.recurrent ? source.hash : hash_of_pages(source, position)};
    state.mtp_committed = std::min(source.mtp_committed, position);
    if (sizes_.page_bytes > 0) {
      const uint32_t full = position / plan::kPagePositions;
      state.pages.assign(source.pages.begin(), source.pages.begin() + full);
      for (const plan::PageId page : state.pages) ++at(page).holders;
      if (const uint32_t rest = position % plan::kPagePositions; rest > 0) {
        state.pages.push_back(take_page());
        std::copy_n(at(source.pages[full]).tokens.begin(), rest, at(state.pages.back()).tokens.begin());
      }
    }
    return place(std::move(state));
  }

  void close(plan::SlotId slot) {
    if (!is_open(slot)) {
      ADD_FAILURE() << "close: slot " << static_cast<size_t>(slot) << " is not open";
      return;
    }
    for (const plan::PageId page : slots_.at(slot).pages) drop_page(page);
    slots_.erase(slot);
  }

  bool is_open(plan::SlotId slot) const { return slots_.contains(slot); }
  State& at(plan::SlotId slot) { return slots_.at(slot); }
  // Fails the test and answers with an empty state if the slot is not open.
  const State& look(plan::SlotId slot) const {
    static const State kNone;
    if (is_open(slot)) return slots_.at(slot);
    ADD_FAILURE() << "slot " << static_cast<size_t>(slot) << " is not open";
    return kNone;
  }
  const std::map<plan::SlotId, State>& open_slots() const { return slots_; }

  // The state goes on by one token; there is room.
  void append(State& state, int32_t token) {
    if (sizes_.page_bytes > 0) {
      const uint32_t offset = state.committed % plan::kPagePositions;
      if (offset == 0) state.pages.push_back(take_page());
      Page& page = at(state.pages.back());
      EXPECT_EQ(page.holders, 1u) << "a shared page is written to";
      page.tokens[offset] = token;
    }
    state.hash = after(state.hash, token);
    ++state.committed;
  }

  // With pages.
  int32_t token_at(const State& state, uint32_t position) const {
    return at(state.pages.at(position / plan::kPagePositions)).tokens[position % plan::kPagePositions];
  }

  bool pages_agree(const State& state) const { return sizes_.page_bytes == 0 || hash_of_pages(state, state.committed) == state.hash; }

  uint64_t state_bytes(uint32_t tokens) const { return sizes_.own_bytes + pages_for(tokens) * sizes_.page_bytes; }
  plan::StateStore::Usage usage() const {
    const auto pages = static_cast<uint32_t>(pages_.size() - free_.size());
    return {.slots = static_cast<uint32_t>(slots_.size()),
            .pages = pages,
            .bytes = slots_.size() * sizes_.own_bytes + pages * sizes_.page_bytes,
            .kept_bytes = free_.size() * sizes_.page_bytes};
  }

  // Pages are held by whom they say, and none is lost.
  void check() const {
    std::map<plan::PageId, uint32_t> holders;
    for (const auto& [slot, state] : slots_) {
      EXPECT_EQ(state.pages.size(), sizes_.page_bytes == 0 ? 0 : pages_for(state.committed));
      for (const plan::PageId page : state.pages) ++holders[page];
    }
    EXPECT_EQ(holders.size(), usage().pages);
    for (const auto& [page, count] : holders) EXPECT_EQ(at(page).holders, count) << "page " << static_cast<size_t>(page);
  }

 private:
  struct Page {
    uint32_t holders = 0;
    std::array<int32_t, plan::kPagePositions> tokens{};
  };

  static uint64_t pages_for(uint32_t tokens) { return (uint64_t{tokens} + plan::kPagePositions - 1) / plan::kPagePositions; }

  // What open slots will still take counts as taken.
  Status check_memory(uint32_t tokens) const {
    if (sizes_.memory_bytes == std::numeric_limits<uint64_t>::max()) return {};
    uint64_t taken = usage().bytes;
    for (const auto& [slot, state] : slots_) taken += (pages_for(state.capacity) - pages_for(state.committed)) * sizes_.page_bytes;
    if (taken + state_bytes(tokens) <= sizes_.memory_bytes) return {};
    return fail(ErrorKind::kMemory, "a sequence of {} tokens needs {} bytes; {} of {} are taken", tokens, state_bytes(tokens), taken,
                sizes_.memory_bytes);
  }

  Result<plan::SlotId> place(State state) {
    uint16_t free = 0;  // the lowest: numbers come again as soon as they can, and with them mistakes about who is who
    for (auto it = slots_.begin(); it != slots_.end() && it->first == plan::SlotId{free}; ++it) ++free;
    slots_.emplace(plan::SlotId{free}, std::move(state));
    return plan::SlotId{free};
  }

  plan::PageId take_page() {
    if (free_.empty()) {
      pages_.emplace_back();
      free_.push_back(static_cast<plan::PageId>(pages_.size() - 1));
    }
    const plan::PageId page = free_.back();
    free_.pop_back();
    at(page).holders = 1;
    return page;
  }

  void drop_page(plan::PageId page) {
    if (--at(page).holders > 0) return;
    at(page).tokens.fill(-1);
    free_.push_back(page);
  }

  uint64_t hash_of_pages(const State& state, uint32_t tokens) const {
    uint64_t hash = kNoTokens;
    for (uint32_t begin = 0; begin < tokens; begin += plan::kPagePositions) {
      const Page& page = at(state.pages[begin / plan::kPagePositions]);
      const uint32_t count = std::min(tokens - begin, plan::kPagePositions);
      for (uint32_t i = 0; i < count; ++i) hash = after(hash, page.tokens[i]);
    }
    return hash;
  }

  Page& at(plan::PageId page) { return pages_[static_cast<size_t>(page)]; }
  const Page& at(plan::PageId page) const { return pages_[static_cast<size_t>(page)]; }

  const FakeSizes sizes_;
  std::map<plan::SlotId, State> slots_;
  std::deque<Page> pages_;
  std::vector<plan::PageId> free_;
};

}  // namespace teapot::engine
