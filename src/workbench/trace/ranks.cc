#include "workbench/trace/ranks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace teapot::workbench::trace {
namespace {

using Key = std::tuple<std::string, std::string, uint32_t>;

Key key_of(const CollectiveCall& call) { return {call.step_id, call.name, call.turn}; }

}  // namespace

std::vector<RankTimes> compare_ranks(const std::vector<Analysis>& ranks) {
  struct Shortest {
    int64_t ns = INT64_MAX;
    size_t ranks = 0;
  };
  std::map<Key, Shortest> shortest;
  for (const Analysis& rank : ranks) {
    for (const CollectiveCall& call : rank.collective_calls) {
      Shortest& entry = shortest[key_of(call)];
      entry.ns = std::min(entry.ns, call.ns);
      ++entry.ranks;
    }
  }
  std::vector<RankTimes> result;
  for (const Analysis& rank : ranks) {
    int64_t waiting = 0;
    for (const CollectiveCall& call : rank.collective_calls) {
      const Shortest& entry = shortest[key_of(call)];
      if (entry.ranks == ranks.size()) waiting += call.ns - entry.ns;
    }
    const double steps = static_cast<double>(std::max<uint64_t>(rank.counted, 1)) * 1000;
    result.push_back({rank.rank, static_cast<double>(rank.counted_wall_ns()) / steps, static_cast<double>(waiting) / steps});
  }
  std::ranges::sort(result, std::greater(), [](const RankTimes& rank) { return std::pair(rank.own_us(), -rank.rank); });
  return result;
}

}  // namespace teapot::workbench::trace
