// Rows of a file into tiles of 16 (kernels/tiles.h), and back.
#pragma once

#include <array>
#include <cstddef>

#include "plan/weight.h"

namespace teapot::cpu {

// Whether the type has a tiled layout; the others stay as their file has them.
bool has_tiles(plan::WeightType type);

// Bytes of a tile; of a type that has tiles.
size_t tile_bytes(plan::WeightType type, size_t cols);

// rows: one row each, in the type's blocks; null where the matrix has ended. out: tile_bytes, zero.
void pack_tile(plan::WeightType type, const std::array<const std::byte*, 16>& rows, size_t cols, std::byte* out);

// One row of a tile in f32.
void unpack_tile_row(plan::WeightType type, const std::byte* tile, size_t row, size_t cols, float* out);

}  // namespace teapot::cpu
