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

  void enter(uint32_t op) { op_ = op; }  // what the next phases are accounted to

  // fn(item) for the items of the phase that this worker gets. A phase may have one such loop; it is over with the next sync.
  template <class F>
  void phase(const char* name, size_t items, F&& fn) {
    phase_ = name;
    for (size_t item; (item = step_.team.claim()) < items;) fn(item);
  }

  // Waits for all workers; last() runs on the one that comes last.
  template <class F>
  void sync(F&& last) {
    const uint64_t arrived = ticks();
    const bool serial = step_.team.sync(last);
    const uint64_t released = ticks();
    zones_.add({phase_, op_, serial, began_, arrived, released});
    began_ = released;
  }
  void sync() {
    sync([] {});
  }

  // Waits for all; then fn(row) has been done for `count` rows, and then after(). Rows do not depend on each other, so who computes them
  // changes no bit.
  template <class Row, class After>
  void sync_rows(const char* name, size_t count, size_t floats_per_row, Row&& fn, After&& after) {
    if (step_.folds(count, floats_per_row)) {
      sync([&] {
        for (size_t row = 0; row < count; ++row) fn(row);
        after();
      });
    } else {
      sync();
      phase(name, count, fn);
      sync(after);
    }
  }

 private:
  Step& step_;
  const size_t index_;
  ZoneRing& zones_;
  uint32_t op_ = 0;
  const char* phase_ = "start";
  uint64_t began_;
};

}  // namespace teapot::cpu
