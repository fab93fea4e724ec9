// Tiles (kernels/tiles.h) read plainly: the levels, scales and minima of one row.
#pragma once

#include "cpu/kernels/scalar/formats.h"
#include "cpu/kernels/tiles.h"

namespace teapot::cpu::scalar {

// 32 columns of a row. weight = scale * q - min.
struct RowPanel {
  int8_t q[kPanelCols];
  float scale[2];  // of each half; formats with one scale a panel have it twice
  float min;       // zero in formats that have none
};

// The levels that pairs of nibbles hold; out: unsigned.
inline void read_pairs(const unsigned char* pairs, size_t row, int8_t* out) {
  for (size_t i = 0; i < kPanelCols / 2; ++i) {
    const unsigned char pair = pairs[64 * (i / 4) + 4 * row + i % 4];
    out[i] = static_cast<int8_t>(pair & 15);
    out[i + 16] = static_cast<int8_t>(pair >> 4);
  }
}

inline void read_panel(Q8_0, const unsigned char* front, const unsigned char* block, size_t, size_t row, RowPanel& out) {
  for (size_t i = 0; i < kPanelCols; ++i) out.q[i] = static_cast<int8_t>(block[64 * (i / 4) + 4 * row + i % 4]);
  out.scale[0] = out.scale[1] = half_at(front + 2 * row);
  out.min = 0;
}

inline void read_panel(Q4_0, const unsigned char* front, const unsigned char* block, size_t, size_t row, RowPanel& out) {
  read_pairs(block, row, out.q);
  for (int8_t& q : out.q) q = static_cast<int8_t>(q - 8);
  out.scale[0] = out.scale[1] = half_at(front + 2 * row);
  out.min = 0;
}

// What Q4_K and Q5_K have in common.
template <class Format>
void read_k_panel(const unsigned char* block, size_t panel, size_t row, RowPanel& out) {
  using Layout = Tiled<Format>;
  read_pairs(block + Layout::kNibbles + 256 * panel, row, out.q);
  const float d = half_at(block + 2 * row), dmin = half_at(block + 2 * kTileRows + 2 * row);
  out.scale[0] = out.scale[1] = d * static_cast<float>(block[Layout::kScales + kTileRows * panel + row]);
  out.min = dmin * static_cast<float>(block[Layout::kMins + kTileRows * panel + row]);
}

inline void read_panel(Q4_K, const unsigned char*, const unsigned char* block, size_t panel, size_t row, RowPanel& out) {
  read_k_panel<Q4_K>(block, panel, row, out);
}

inline void read_panel(Q5_K, const unsigned char*, const unsigned char* block, size_t panel, size_t row, RowPanel& out) {
  read_k_panel<Q5_K>(block, panel, row, out);
  const unsigned char* const bits = block + Tiled<Q5_K>::kBits + 64 * panel + 4 * row;
  for (size_t i = 0; i < kPanelCols; ++i) out.q[i] = static_cast<int8_t>(out.q[i] | (bits[i % 4] >> (i / 4) & 1) << 4);
}

inline void read_panel(Q6_K, const unsigned char* front, const unsigned char* block, size_t panel, size_t row, RowPanel& out) {
  using Layout = Tiled<Q6_K>;
  read_pairs(block + Layout::kNibbles + 256 * panel, row, out.q);
  for (size_t i = 0; i < kPanelCols; ++i) {
    const unsigned char bits = block[Layout::kBits + 128 * panel + 64 * (i / 16) + 4 * row + i % 4];
    out.q[i] = static_cast<int8_t>((out.q[i] | (bits >> 2 * (i % 16 / 4) & 3) << 4) - 32);
  }
  for (size_t half = 0; half < 2; ++half) {
    const auto scale = static_cast<int8_t>(block[Layout::kScales + kTileRows * (2 * panel + half) + row]);
    out.scale[half] = half_at(front + 2 * row) * static_cast<float>(scale);
  }
  out.min = 0;
}

inline void read_panel(IQ4_XS, const unsigned char* front, const unsigned char* block, size_t panel, size_t row, RowPanel& out) {
  using Layout = Tiled<IQ4_XS>;
  read_pairs(block + Layout::kNibbles + 256 * panel, row, out.q);
  for (int8_t& q : out.q) q = kIq4Levels[q];
  const auto scale = static_cast<int8_t>(block[Layout::kScales + kTileRows * panel + row]);
  out.scale[0] = out.scale[1] = half_at(front + 2 * row) * static_cast<float>(scale);
  out.min = 0;
}

// Columns [32 * index, ...) of a row of a tile.
template <class Format>
void read_panel_at(const unsigned char* tile, size_t cols, size_t index, size_t row, RowPanel& out) {
  using Layout = Tiled<Format>;
  const size_t block = index / Layout::kPanels;
  read_panel(Format(), tile + block * Layout::kFront, tile + tile_front<Format>(cols) + block * Layout::kBlock, index % Layout::kPanels,
             row, out);
}

inline float tile_float(F32, const unsigned char* tile, size_t column, size_t row) {
  float value;
  std::memcpy(&value, tile + 64 * column + 4 * row, 4);
  return value;
}
inline float tile_float(F16, const unsigned char* tile, size_t column, size_t row) { return half_at(tile + 32 * column + 2 * row); }
inline float tile_float(BF16, const unsigned char* tile, size_t column, size_t row) {
  uint16_t bits;
  std::memcpy(&bits, tile + column / 2 * 64 + 4 * row + 2 * (column % 2), 2);
  return bf16_to_f32(bits);
}

}  // namespace teapot::cpu::scalar
