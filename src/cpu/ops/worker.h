// One worker's way through a step. All workers run the same code over the same ops: phases of claimed items, with a barrier wherever
// an item reads what another worker wrote. Every worker must come to the same phases in the same order.
#pragma once

#include "base/ticks.h"
#include "cpu/ops/step.h"
#include "cpu/zones.h"

namespace teapot::cpu {

class Worker {
 public:
  Worker(Step& step, size_t index, ZoneRing& zones) : step_(step), index_(index), zones_(zones), began_(ticks()) {}

  Step& step() const { return step_; }
  size_t index() const { return index_; }
  std::byte* scratch() const { return step_.worker(index_); }

  uint64_t& replayed() { return zones_.replayed(); }  // ticks

  void enter(uint32_t op) { op_ = op; }  // what the next phases are accounted to

  // fn(item) for the items of the phase that this worker gets. A phase may have one such loop; it is over with the next sync.
  template <class F>
  void phase(const char* name, size_t items, F&& fn) {
    phase_ = name;
    for (size_t item = claimed_ == kNone ? claim() : claimed_; item < items; item = claim()) fn(item);
    claimed_ = kNone;
  }

  // Waits for all workers; last() runs on the one that comes last.
  template <class F>
  void sync(F&& last) {
    const uint64_t arrived = ticks();
    const bool serial = step_.team.sync(last);
    first_item_ = 0;
    record(arrived, serial);
  }
  void sync() {
    sync([] {});
  }

  // Waits for all; then before() has run, then fn(row) for `count` rows, then after(). Rows do not depend on each other, so who computes
  // them changes no bit. next: the op that the rows are accounted to.
  template <class Before, class Row, class After>
  void sync_rows(const char* name, uint32_t next, size_t count, size_t floats_per_row, Before&& before, Row&& fn, After&& after) {
    if (step_.folds(count, floats_per_row)) {
      sync([&] {
        before();
        for (size_t row = 0; floats_per_row != 0 && row < count; ++row) fn(row);
        after();
      });
      return;
    }
    sync(before);
    enter(next);
    if (step_.sync == Sync::kFlags) {
      share_rows(name, count, fn, after);
    } else {
      phase(name, count, fn);
      sync(after);
    }
  }
  template <class Row, class After>
  void sync_rows(const char* name, size_t count, size_t floats_per_row, Row&& fn, After&& after) {
    sync_rows(name, op_, count, floats_per_row, [] {}, fn, after);
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  size_t claim() { return step_.team.claim() - first_item_; }

  void record(uint64_t arrived, bool serial) {
    const uint64_t released = ticks();
    zones_.add({phase_, op_, serial, began_, arrived, released});
    began_ = released;
  }

  // The rows are the first items of a phase whose others need them all: a worker that gets one of those waits at the gate before it.
  template <class Row, class After>
  void share_rows(const char* name, size_t count, Row&& fn, After&& after) {
    phase_ = name;
    bool last = false;
    size_t item = claim();
    for (; item < count; item = claim()) {
      fn(item);
      last = step_.team.gate().done(static_cast<uint32_t>(count), after) || last;
    }
    claimed_ = item - count;
    first_item_ = count;
    const uint64_t arrived = ticks();
    step_.team.gate().pass();
    record(arrived, last);
  }

  Step& step_;
  const size_t index_;
  ZoneRing& zones_;
  uint32_t op_ = 0;
  const char* phase_ = "start";
  uint64_t began_;
  size_t first_item_ = 0;   // of the team's count, that is item 0 of the phase
  size_t claimed_ = kNone;  // item of the coming phase that this worker has got already
};

}  // namespace teapot::cpu
