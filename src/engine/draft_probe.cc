#include "engine/draft_probe.h"

#include <algorithm>

namespace teapot::engine {

uint32_t DraftProbe::depth(uint32_t chosen, uint32_t limit) {
  probing_ = false;
  if (chosen > 0) {
    *this = {};
    return chosen;
  }
  if (limit == 0) return 0;
  if (plain_ < wait_) {
    ++plain_;
    return 0;
  }
  plain_ = 0;
  probing_ = true;
  return 1;
}

// One that held is followed by another at once: a single draft says too little, and if it was not luck, time is being lost. If it was, the
// two were one probe that changed nothing.
void DraftProbe::observe(bool held) {
  if (!probing_) return;
  if (held) {
    plain_ = wait_;
  } else {
    wait_ = std::min(2 * wait_, kLongest);
  }
}

}  // namespace teapot::engine
