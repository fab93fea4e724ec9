// How often each group was counted, and how many groups there are of each count: the most frequent are found without sorting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace teapot::engine {

class GroupCounts {
 public:
  // A bin a count; the last is of all that are counted more often. Those are few, and any choice among them is as good.
  static constexpr uint32_t kBins = 1024;

  explicit GroupCounts(uint32_t groups);

  void add(uint32_t group) { move(group, counts_[group] + 1); }
  void remove(uint32_t group) { move(group, counts_[group] - 1); }
  void halve();

  uint32_t bin(uint32_t group) const { return std::min(counts_[group], kBins - 1); }
  std::span<const uint32_t> bins() const { return bins_; }  // groups in each
  uint32_t counted() const { return static_cast<uint32_t>(counts_.size()) - bins_[0]; }

 private:
  void move(uint32_t group, uint32_t count);

  std::vector<uint32_t> counts_;  // [groups]
  std::vector<uint32_t> bins_;    // [kBins]
};

// The `wanted` most frequent groups of such bins: asked group by group, it says which; of the last bin it takes the first that come.
class MostFrequent {
 public:
  MostFrequent(std::span<const uint32_t> bins, uint32_t wanted);

  bool takes(uint32_t bin) {
    if (bin != last_ || left_ == 0) return bin > last_;
    --left_;
    return true;
  }

 private:
  uint32_t last_;  // bin: all above are taken whole
  uint32_t left_;  // of it
};

}  // namespace teapot::engine
