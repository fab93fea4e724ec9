// What a draft's own probability is worth: how often drafts that were given about as much held. Decode thread only.
#pragma once

#include <array>
#include <cstddef>

namespace teapot::engine {

class Confidence {
 public:
  Confidence();

  // A draft with this probability held, or did not, those before it having held.
  void observe(double probability, bool held);

  // That a draft with this probability holds if those before it do.
  double chance(double probability) const;

 private:
  // Upper ends of the bins: closer where drafts are most (near 1), and where one bin's error matters most (near 0).
  static constexpr std::array<double, 12> kEnds = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1};
  static size_t bin(double probability);

  std::array<double, kEnds.size()> chance_;
  std::array<double, kEnds.size()> made_;  // drafts that chance_ stands for
};

}  // namespace teapot::engine
