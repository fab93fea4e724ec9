#include "engine/confidence.h"

#include <algorithm>

namespace teapot::engine {
namespace {

constexpr double kPrior = 4;   // drafts: models are roughly calibrated, so a bin begins at its middle
constexpr double kMost = 256;  // drafts of a bin that are remembered: its chance is then known to 0.03

}  // namespace

Confidence::Confidence() {
  for (size_t i = 0; i < kEnds.size(); ++i) chance_[i] = ((i > 0 ? kEnds[i - 1] : 0) + kEnds[i]) / 2;
  made_.fill(kPrior);
}

size_t Confidence::bin(double probability) {
  const auto end = std::ranges::lower_bound(kEnds, probability);
  return std::min(static_cast<size_t>(end - kEnds.begin()), kEnds.size() - 1);
}

void Confidence::observe(double probability, bool held) {
  const size_t i = bin(probability);
  made_[i] = std::min(made_[i] + 1, kMost);
  chance_[i] += ((held ? 1 : 0) - chance_[i]) / made_[i];
}

double Confidence::chance(double probability) const { return chance_[bin(probability)]; }

}  // namespace teapot::engine
