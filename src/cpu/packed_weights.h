// The weights of a model in one arena: each matrix contiguous, its rows in the order of the plan, in the block format of its file.
#pragma once

#include <functional>
#include <vector>

#include "cpu/arena.h"
#include "cpu/thread_team.h"
#include "plan/weight.h"

namespace teapot::cpu {

class PackedWeights {
 public:
  using Progress = std::function<void(uint64_t done, uint64_t total)>;

  // Copies all rows with the team's threads; progress is called on this thread. kInternal when a matrix contradicts itself (runs that do
  // not add up, a row that is no whole number of blocks), kMemory with both numbers when it does not fit.
  static Result<PackedWeights> load(const plan::WeightTable& source, Pages pages, ThreadTeam& team, const Progress& progress);

  // Row r begins at matrix(id) + r * row_bytes(type, cols); aligned to kAlignment.
  const unsigned char* matrix(plan::MatrixId id) const {
    return reinterpret_cast<const unsigned char*>(arena_.data()) + offsets_[static_cast<size_t>(id)];
  }
  const float* vector(plan::VectorId id) const { return table_[id].values.data(); }

  // Names, types and sizes; the matrices' runs are those of the arena: what the source's pointed to need not be there any more.
  const plan::WeightTable& table() const { return table_; }
  uint64_t bytes() const { return arena_.bytes(); }

 private:
  plan::WeightTable table_;
  Arena arena_;
  std::vector<uint64_t> offsets_;  // [matrices]
};

}  // namespace teapot::cpu
