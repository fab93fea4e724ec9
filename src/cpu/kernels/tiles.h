// The packed layout of weights: 16 rows side by side, so that a vector lane is a row and no sum goes across lanes (design section 4).
//
// A matrix is a run of tiles of kTileRows rows, the last one filled up with zeros. A quantised tile holds, for each panel of 32 columns,
// eight dwords a row: dword j of a row is the levels of columns 4j .. 4j+3, and the dwords of the 16 rows stand side by side (64 bytes).
// Nibbles pair dword j (low) with dword j + 4 (high). A tile begins with what its blocks have in front, rounded up to 64 bytes:
//
//   Q8_0    front: 16 f16 scales a block      block of  32: 8 x 64 signed bytes
//   Q4_0    front: 16 f16 scales a block      block of  32: 4 x 64 nibble pairs
//   Q4_K                                      block of 256: 16 f16 d, 16 f16 dmin, 8 x 16 scales, 8 x 16 minima, 8 panels of 4 x 64 nibble
//   pairs Q5_K                                      block of 256: the same, then 8 panels of 64 bytes: bit j is the fifth bit of dword j
//   Q6_K    front: 16 f16 d a block           block of 256: 16 x 16 signed scales, 8 panels of 4 x 64 nibble pairs, 8 panels of 2 x 64:
//                                             bits 2i, 2i+1 of the first are the upper bits of dword i, of the second those of dword i + 4
//   IQ4_XS  front: 16 f16 d a block           block of 256: 8 x 16 signed scales, 8 panels of 4 x 64 pairs of indices
//
// Floats: F32 has 16 floats a column, F16 16 halves a column, BF16 16 dwords a pair of columns (the even one low); columns are filled up
// to an even number. This header includes nothing with inline code: see cmake/floors.cmake.
#pragma once

#include "cpu/kernels/formats.h"

namespace teapot::cpu {

constexpr size_t kTileRows = 16;
constexpr size_t kPanelCols = 32;

template <class Format>
struct Tiled;

template <>
struct Tiled<F32> {
  static constexpr size_t kPairBytes = 128;
};
template <>
struct Tiled<F16> {
  static constexpr size_t kPairBytes = 64;
};
template <>
struct Tiled<BF16> {
  static constexpr size_t kPairBytes = 64;
};
template <>
struct Tiled<Q8_0> {
  static constexpr size_t kFront = 32, kBlock = 512, kPanels = 1;
  static constexpr int kLargestLevel = 255;
};
template <>
struct Tiled<Q4_0> {
  static constexpr size_t kFront = 32, kBlock = 256, kPanels = 1;
  static constexpr int kLargestLevel = 15;
};
template <>
struct Tiled<Q4_K> {
  static constexpr size_t kFront = 0, kBlock = 2368, kPanels = 8, kScales = 64, kMins = 192, kNibbles = 320;
  static constexpr int kLargestLevel = 15;
};
template <>
struct Tiled<Q5_K> {
  static constexpr size_t kFront = 0, kBlock = 2880, kPanels = 8, kScales = 64, kMins = 192, kNibbles = 320, kBits = 2368;
  static constexpr int kLargestLevel = 31;
};
template <>
struct Tiled<Q6_K> {
  static constexpr size_t kFront = 32, kBlock = 3328, kPanels = 8, kScales = 0, kNibbles = 256, kBits = 2304;
  static constexpr int kLargestLevel = 63;
};
template <>
struct Tiled<IQ4_XS> {
  static constexpr size_t kFront = 32, kBlock = 2176, kPanels = 8, kScales = 0, kNibbles = 128;
  static constexpr int kLargestLevel = 255;
};

// Products of levels and activations, added in pairs to 16 bits: so many of them fit there. Levels of 8 bits come with a sign.
template <int kLargestLevel>
constexpr size_t kPairsTogether = kLargestLevel == 255 ? 1 : 32767 / (2 * 127 * kLargestLevel);

constexpr size_t round_up_64(size_t bytes) { return (bytes + 63) / 64 * 64; }

// What stands before a tile's blocks. cols: a multiple of the format's block.
template <class Format>
constexpr size_t tile_front(size_t cols) {
  if constexpr (Format::kElements == 1)
    return 0;
  else
    return round_up_64(cols / Format::kElements * Tiled<Format>::kFront);
}

template <class Format>
constexpr size_t tile_bytes(size_t cols) {
  if constexpr (Format::kElements == 1)
    return (cols + 1) / 2 * Tiled<Format>::kPairBytes;
  else
    return tile_front<Format>(cols) + cols / Format::kElements * Tiled<Format>::kBlock;
}

}  // namespace teapot::cpu
