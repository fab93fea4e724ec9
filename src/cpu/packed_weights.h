// The weights of a model in one arena: each matrix in tiles of 16 rows where its type has them (kernels/tiles.h), else row after row in the
// block format of its file; rows in the order of the plan.
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

  // Packs all matrices with the team's threads, letting a mapped source's pages go as they have been read; progress is called on this
  // thread, in bytes of the source. prepack false: all stay row after row. Matrices with a `source` are quantised on the way, a few rows at
  // a time. kInternal when a matrix contradicts itself (runs that do not add up, a row that is no whole number of blocks), kInvalid where a
  // weight cannot be quantised, kMemory with both numbers when it does not fit.
  static Result<PackedWeights> load(const plan::WeightTable& source, Pages pages, ThreadTeam& team, const Progress& progress,
                                    bool prepack = true);

  // Aligned to kAlignment. Not tiled: row r begins at r * row_bytes(type, cols); tiled: tile i (rows 16 i ...) at i * tile_bytes(type,
  // cols).
  const unsigned char* matrix(plan::MatrixId id) const {
    return reinterpret_cast<const unsigned char*>(arena_.data()) + places_[static_cast<size_t>(id)].offset;
  }
  bool tiled(plan::MatrixId id) const { return places_[static_cast<size_t>(id)].tiled; }
  // What reading the whole matrix reads.
  uint64_t matrix_bytes(plan::MatrixId id) const { return places_[static_cast<size_t>(id)].bytes; }
  // One row in f32. out: [cols].
  void row(plan::MatrixId id, size_t row, float* out) const;

  const float* vector(plan::VectorId id) const { return table_[id].values.data(); }

  // Names, types and sizes; a matrix' only run is its place here: what the source's pointed to need not be there any more.
  const plan::WeightTable& table() const { return table_; }
  uint64_t bytes() const { return arena_.bytes(); }
  const Arena& arena() const { return arena_; }

 private:
  struct Place {
    uint64_t offset, bytes;
    bool tiled;
  };

  plan::WeightTable table_;
  Arena arena_;
  std::vector<Place> places_;  // [matrices]
};

}  // namespace teapot::cpu
