#include "engine/group_counts.h"

namespace teapot::engine {

GroupCounts::GroupCounts(uint32_t groups) : counts_(groups), bins_(kBins) { bins_[0] = groups; }

void GroupCounts::move(uint32_t group, uint32_t count) {
  --bins_[bin(group)];
  counts_[group] = count;
  ++bins_[bin(group)];
}

void GroupCounts::halve() {
  for (uint32_t group = 0; group < counts_.size(); ++group) {
    if (counts_[group] > 0) move(group, counts_[group] / 2);
  }
}

MostFrequent::MostFrequent(std::span<const uint32_t> bins, uint32_t wanted) : last_(static_cast<uint32_t>(bins.size()) - 1), left_(wanted) {
  while (last_ > 0 && bins[last_] <= left_) left_ -= bins[last_--];
}

}  // namespace teapot::engine
