#include "cpu/pack_tiles.h"

#include <algorithm>
#include <cstring>

#include "cpu/kernels/scalar/tiles.h"

namespace teapot::cpu {
namespace {

using Byte = unsigned char;

void copy_dwords(const Byte* from, size_t dwords, size_t row, Byte* out) {
  for (size_t j = 0; j < dwords; ++j) std::memcpy(out + 64 * j + 4 * row, from + 4 * j, 4);
}

// The low nibbles of 32 levels in pairs.
void put_pairs(const Byte* levels, size_t row, Byte* out) {
  Byte pairs[16];
  for (size_t i = 0; i < 16; ++i) pairs[i] = static_cast<Byte>((levels[i] & 15) | levels[i + 16] << 4);
  copy_dwords(pairs, 4, row, out);
}

void pack_block(Q8_0, const Byte* b, size_t row, Byte* front, Byte* out) {
  std::memcpy(front + 2 * row, b, 2);
  copy_dwords(b + 2, 8, row, out);
}

void pack_block(Q4_0, const Byte* b, size_t row, Byte* front, Byte* out) {
  std::memcpy(front + 2 * row, b, 2);
  copy_dwords(b + 2, 4, row, out);
}

// The 6-bit scales and minima of Q4_K and Q5_K (spec 5.5).
template <class Format>
void pack_k_scales(const Byte* b, size_t row, Byte* out) {
  std::memcpy(out + 2 * row, b, 2);
  std::memcpy(out + 2 * kTileRows + 2 * row, b + 2, 2);
  const Byte* const s = b + 4;
  for (size_t j = 0; j < 8; ++j) {
    const int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    const int min = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
    out[Tiled<Format>::kScales + kTileRows * j + row] = static_cast<Byte>(scale);
    out[Tiled<Format>::kMins + kTileRows * j + row] = static_cast<Byte>(min);
  }
}

// Panel p of the nibbles of Q4_K and Q5_K: two panels share 32 bytes.
void k_levels(const Byte* qs, size_t p, Byte* levels) {
  const Byte* const from = qs + p / 2 * 32;
  for (size_t i = 0; i < 32; ++i) levels[i] = p % 2 == 0 ? from[i] & 15 : from[i] >> 4;
}

void pack_block(Q4_K, const Byte* b, size_t row, Byte*, Byte* out) {
  pack_k_scales<Q4_K>(b, row, out);
  for (size_t p = 0; p < 8; ++p) {
    Byte levels[32];
    k_levels(b + 16, p, levels);
    put_pairs(levels, row, out + Tiled<Q4_K>::kNibbles + 256 * p);
  }
}

void pack_block(Q5_K, const Byte* b, size_t row, Byte*, Byte* out) {
  pack_k_scales<Q5_K>(b, row, out);
  for (size_t p = 0; p < 8; ++p) {
    Byte levels[32];
    k_levels(b + 48, p, levels);
    put_pairs(levels, row, out + Tiled<Q5_K>::kNibbles + 256 * p);
    Byte* const bits = out + Tiled<Q5_K>::kBits + 64 * p + 4 * row;
    for (size_t i = 0; i < 32; ++i) bits[i % 4] = static_cast<Byte>(bits[i % 4] | (b[16 + i] >> p & 1) << (i / 4));
  }
}

void pack_block(Q6_K, const Byte* b, size_t row, Byte* front, Byte* out) {
  using Layout = Tiled<Q6_K>;
  std::memcpy(front + 2 * row, b + 208, 2);
  for (size_t g = 0; g < 16; ++g) out[Layout::kScales + kTileRows * g + row] = b[192 + g];
  for (size_t p = 0; p < 8; ++p) {
    const size_t half = p / 4, j = p % 4;
    const Byte* const low = b + 64 * half + 32 * (j % 2);
    const Byte* const high = b + 128 + 32 * half;
    Byte levels[32], upper[32];
    for (size_t i = 0; i < 32; ++i) {
      levels[i] = static_cast<Byte>(j < 2 ? low[i] & 15 : low[i] >> 4);
      upper[i] = static_cast<Byte>(high[i] >> 2 * j & 3);
    }
    put_pairs(levels, row, out + Layout::kNibbles + 256 * p);
    for (size_t h = 0; h < 2; ++h) {
      Byte* const bits = out + Layout::kBits + 128 * p + 64 * h + 4 * row;
      const Byte* const u = upper + 16 * h;
      for (size_t k = 0; k < 4; ++k) bits[k] = static_cast<Byte>(u[k] | u[4 + k] << 2 | u[8 + k] << 4 | u[12 + k] << 6);
    }
  }
}

void pack_block(IQ4_XS, const Byte* b, size_t row, Byte* front, Byte* out) {
  using Layout = Tiled<IQ4_XS>;
  std::memcpy(front + 2 * row, b, 2);
  const unsigned high = b[2] | b[3] << 8;
  for (size_t j = 0; j < 8; ++j) {
    const unsigned low = b[4 + j / 2] >> 4 * (j % 2) & 15;
    out[Layout::kScales + kTileRows * j + row] = static_cast<Byte>(static_cast<int>(low | (high >> 2 * j & 3) << 4) - 32);
    copy_dwords(b + 8 + 16 * j, 4, row, out + Layout::kNibbles + 256 * j);
  }
}

template <class Format>
void pack(const std::array<const std::byte*, kTileRows>& rows, size_t cols, Byte* out) {
  if constexpr (Format::kElements == 1) {
    constexpr size_t kChunk = 64;  // columns: what they fill stays in L1 for all rows
    for (size_t begin = 0; begin < cols; begin += kChunk) {
      const size_t end = std::min(begin + kChunk, cols);
      for (size_t r = 0; r < kTileRows; ++r) {
        if (rows[r] == nullptr) continue;
        for (size_t c = begin; c < end; ++c) {
          const size_t to = std::is_same_v<Format, BF16> ? c / 2 * 64 + 4 * r + 2 * (c % 2) : (c * kTileRows + r) * Format::kBytes;
          std::memcpy(out + to, rows[r] + c * Format::kBytes, Format::kBytes);
        }
      }
    }
  } else {
    Byte* const body = out + tile_front<Format>(cols);
    for (size_t b = 0; b < cols / Format::kElements; ++b) {
      for (size_t r = 0; r < kTileRows; ++r) {
        if (rows[r] == nullptr) continue;
        pack_block(Format(), reinterpret_cast<const Byte*>(rows[r]) + b * Format::kBytes, r, out + b * Tiled<Format>::kFront,
                   body + b * Tiled<Format>::kBlock);
      }
    }
  }
}

template <class Format>
void unpack(const Byte* tile, size_t row, size_t cols, float* out) {
  if constexpr (Format::kElements == 1) {
    for (size_t c = 0; c < cols; ++c) out[c] = scalar::tile_float(Format(), tile, c, row);
  } else {
    for (size_t p = 0; p < cols / kPanelCols; ++p) {
      scalar::RowPanel panel;
      scalar::read_panel_at<Format>(tile, cols, p, row, panel);
      for (size_t i = 0; i < kPanelCols; ++i) out[p * kPanelCols + i] = panel.scale[i / 16] * static_cast<float>(panel.q[i]) - panel.min;
    }
  }
}

// fn(Format()) for the type's format, if it has tiles.
template <class F>
bool with_format(plan::WeightType type, F&& fn) {
  using enum plan::WeightType;
  switch (type) {
    case kF32:
      return fn(F32()), true;
    case kF16:
      return fn(F16()), true;
    case kBF16:
      return fn(BF16()), true;
    case kQ8_0:
      return fn(Q8_0()), true;
    case kQ4_0:
      return fn(Q4_0()), true;
    case kQ4_K:
      return fn(Q4_K()), true;
    case kQ5_K:
      return fn(Q5_K()), true;
    case kQ6_K:
      return fn(Q6_K()), true;
    case kIQ4_XS:
      return fn(IQ4_XS()), true;
    default:
      return false;
  }
}

}  // namespace

bool has_tiles(plan::WeightType type) {
  return with_format(type, [](auto) {});
}

size_t tile_bytes(plan::WeightType type, size_t cols) {
  size_t bytes = 0;
  with_format(type, [&]<class Format>(Format) { bytes = tile_bytes<Format>(cols); });
  return bytes;
}

void pack_tile(plan::WeightType type, const std::array<const std::byte*, kTileRows>& rows, size_t cols, std::byte* out) {
  with_format(type, [&]<class Format>(Format) { pack<Format>(rows, cols, reinterpret_cast<Byte*>(out)); });
}

void unpack_tile_row(plan::WeightType type, const std::byte* tile, size_t row, size_t cols, float* out) {
  with_format(type, [&]<class Format>(Format) { unpack<Format>(reinterpret_cast<const Byte*>(tile), row, cols, out); });
}

}  // namespace teapot::cpu
