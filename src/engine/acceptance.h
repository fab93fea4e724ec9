// How often drafts hold, measured: from it follows how deep the next round drafts. Decode thread only.
#pragma once

#include <array>
#include <cstdint>

#include "engine/request.h"

namespace teapot::engine {

// [j - 1]: that draft j of a round holds if those before it did.
using DraftChances = std::array<double, kMaxDrafts>;

class Acceptance {
 public:
  // Of all sequences together.
  Acceptance();
  // Of one sequence, which begins with what is known of all. `shared` outlives it, and is told what this one is told.
  explicit Acceptance(Acceptance* shared);

  // Of `drafted` drafts that were verified the first `accepted` held. A round without drafts says nothing.
  void observe(uint32_t drafted, uint32_t accepted);

  // A position that was not reached lately is taken to be to the one before it what it is with all sequences.
  DraftChances chances() const;
  double of(uint32_t position) const { return chances()[position - 1]; }

 private:
  struct Window {
    double held = 0, made = 0;  // each round counts less than the next
  };
  struct Position {
    Window slow, fast;
    double lead = 0;  // of slow: the logarithm of how much likelier it thought what came, lately
  };

  // What each window says of a position, and the two together.
  struct Estimate {
    double slow, fast, chance;
  };
  std::array<Estimate, kMaxDrafts> estimates() const;

  Acceptance* shared_ = nullptr;
  double half_life_;
  std::array<Position, kMaxDrafts> positions_;
};

}  // namespace teapot::engine
