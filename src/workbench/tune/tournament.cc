#include "workbench/tune/tournament.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace teapot::workbench {

Result<Tournament> hold_tournament(PairMeter& meter, Objective objective, const KnobProfile& incumbent, std::vector<Entrant> entrants) {
  Tournament tournament{.entrants = std::move(entrants), .ranking = {}};
  std::vector<Entrant>& all = tournament.entrants;
  std::vector<PairMeter::Series> series;
  series.reserve(all.size());
  for (const Entrant& entrant : all) series.push_back(meter.series(PairKind::kHalving, entrant.name, incumbent, entrant.target));
  std::vector<size_t> left(all.size());
  std::iota(left.begin(), left.end(), size_t{0});
  for (uint32_t pairs = 1; left.size() > 1 && meter.left() > 0; pairs *= 2) {
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      for (const size_t i : left) {
        if (all[i].fault != TrialFault::kNone || meter.left() == 0) continue;
        TEAPOT_TRY(const PairOutcome outcome, meter.measure(series[i]));
        all[i].fault = outcome.b.fault;
        all[i].what = outcome.b.what;
        if (all[i].fault != TrialFault::kNone) continue;
        all[i].sum += difference_of(objective, outcome);
        ++all[i].pairs;
      }
    }
    std::erase_if(left, [&](size_t i) { return all[i].fault != TrialFault::kNone; });
    std::ranges::sort(left, {}, [&](size_t i) { return std::pair(all[i].mean(), i); });
    left.resize(std::min(left.size(), std::max<size_t>(1, left.size() / 2)));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].fault == TrialFault::kNone) tournament.ranking.push_back(i);
  }
  // Who stayed longer has more pairs.
  std::ranges::sort(tournament.ranking, {}, [&](size_t i) { return std::tuple(-int64_t{all[i].pairs}, all[i].mean(), i); });
  return tournament;
}

}  // namespace teapot::workbench
