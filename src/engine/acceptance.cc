#include "engine/acceptance.h"

#include <algorithm>
#include <cmath>

namespace teapot::engine {
namespace {

// A reply changes its nature (prose, code, a list) every few dozen rounds; what all replies have in common changes with the users.
constexpr double kHalfLife = 24, kSharedHalfLife = 256;
constexpr double kFaster = 6;      // the fast window sees a change from 0.9 to 0.1 in five rounds, but is as noisy as a dozen drafts
constexpr double kSlowFavour = 3;  // nats: without it luck alone would often hand over to the fast window
constexpr double kPrior = 3;       // drafts: an empty window is soon overruled
constexpr double kUnknown = 0.7;   // what MTP layers reach on ordinary text: the first requests must draft, or nothing is ever measured
constexpr double kLeast = 0.01;    // nothing measured is certain

double bounded(double chance) { return std::clamp(chance, kLeast, 1 - kLeast); }

double decay(double half_life) { return std::exp2(-1 / half_life); }

}  // namespace

Acceptance::Acceptance() : half_life_(kSharedHalfLife) {}

Acceptance::Acceptance(Acceptance* shared) : shared_(shared), half_life_(kHalfLife) {}

std::array<Acceptance::Estimate, kMaxDrafts> Acceptance::estimates() const {
  // What a window lacks to be full is filled with the prior.
  const auto chance = [](const Window& window, double share, double prior) {
    const double weight = kPrior * (1 - window.made * share);
    return bounded((window.held + weight * prior) / (window.made + weight));
  };
  const double slow_share = 1 - decay(half_life_), fast_share = 1 - decay(half_life_ / kFaster);  // of a round in a full window
  DraftChances priors;
  priors.fill(kUnknown);
  if (shared_ != nullptr) priors = shared_->chances();
  std::array<Estimate, kMaxDrafts> out;
  for (size_t i = 0; i < kMaxDrafts; ++i) {
    const double prior = i == 0 ? priors[0] : bounded(out[i - 1].chance * priors[i] / priors[i - 1]);
    const Position& position = positions_[i];
    out[i].slow = chance(position.slow, slow_share, prior);
    out[i].fast = chance(position.fast, fast_share, prior);
    const double trust = 1 / (1 + std::exp(-position.lead - kSlowFavour));
    out[i].chance = trust * out[i].slow + (1 - trust) * out[i].fast;
  }
  return out;
}

DraftChances Acceptance::chances() const {
  DraftChances out;
  std::ranges::transform(estimates(), out.begin(), &Estimate::chance);
  return out;
}

void Acceptance::observe(uint32_t drafted, uint32_t accepted) {
  if (drafted == 0) return;
  const auto before = estimates();
  const double slow_decay = decay(half_life_), fast_decay = decay(half_life_ / kFaster), lead_decay = decay(half_life_ / 2);
  for (uint32_t i = 0; i < kMaxDrafts; ++i) {
    Position& position = positions_[i];
    const bool reached = i < drafted && i <= accepted, held = i < accepted;
    const auto count = [&](Window& window, double by) {
      window.held = window.held * by + (held ? 1 : 0);
      window.made = window.made * by + (reached ? 1 : 0);
    };
    count(position.slow, slow_decay);
    count(position.fast, fast_decay);
    position.lead *= lead_decay;
    if (reached) {
      const Estimate& said = before[i];
      position.lead += held ? std::log(said.slow / said.fast) : std::log((1 - said.slow) / (1 - said.fast));
    }
  }
  if (shared_ != nullptr) shared_->observe(drafted, accepted);
}

}  // namespace teapot::engine
