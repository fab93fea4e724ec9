// Panels of tiles (tiles.h) in registers: eight of levels, their scales and minima. For all vector tables.
//
// S is the instruction set's part (tiled.h beside each table). A register has S::kLanes rows; part v of a tile are the rows
// v * S::kLanes .... Levels are unsigned, weight = scale * (level - offset) - minimum; where S takes signed bytes (S::kSigned), formats
// of 8-bit levels come signed and their offset is 0.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/tiles.h"

namespace teapot::cpu {
namespace {

template <class Format>
constexpr bool kFullBytes = Format::kOffset == 128;  // levels of 8 bits

template <class S, class Format>
constexpr int kTiledOffset = S::kSigned && kFullBytes<Format> ? 0 : Format::kOffset;

template <class Format>
constexpr size_t kPanelGroups = kPanelCols / Format::kGroup;

// How far ahead of its reading a tile's kernel asks for bytes: the processor's own prefetcher stops at the borders of pages. Far ahead into
// L2, whose queue is long, near into L1; measured on a Xeon beside plain reads, one, two, four tokens of Q4_K: 100, 92, 80 % with L1 at 4
// KiB alone, 112, 100, 96 % with both.
constexpr size_t kFarAhead = 6144, kNearAhead = 640;

// far: kFarAhead, less where that would be beyond the worker's last tile.
template <size_t kBytes>
[[gnu::always_inline]] inline void fetch_ahead(const unsigned char* p, size_t far) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kBytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(p + far + i), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(p + kNearAhead + i), _MM_HINT_T0);
  }
}

// fn(tile, how far to fetch ahead, from, to, out) for the tiles that hold rows [first, last) of a matrix.
template <class Format, class F>
[[gnu::always_inline]] inline void for_tiles(const unsigned char* weights, size_t cols, size_t first, size_t last, float* out, F fn) {
  const size_t bytes = tile_bytes<Format>(cols);
  const unsigned char* const end = weights + (last + kTileRows - 1) / kTileRows * bytes;
  for (size_t row = first / kTileRows * kTileRows; row < last; row += kTileRows) {
    const size_t from = row < first ? first - row : 0, to = last - row < kTileRows ? last - row : kTileRows;
    const unsigned char* const tile = weights + row / kTileRows * bytes;
    const size_t left = static_cast<size_t>(end - tile) - bytes;
    fn(tile, left < kFarAhead ? left : kFarAhead, from, to, out + (row + from - first));
  }
}

// What a block's panels have in common.
template <class S>
struct Head {
  typename S::Floats scale, min;
};

template <class S, class Format>
struct Panel {
  typename S::Bytes levels[8];
  typename S::Floats scale[kPanelGroups<Format>];
  typename S::Floats min;
};

template <class S, class Format>
[[gnu::always_inline]] inline Head<S> read_head(const unsigned char* front, const unsigned char* block, size_t v) {
  Head<S> head;
  const unsigned char* const scales = Tiled<Format>::kFront == 0 ? block : front;
  head.scale = S::halves(scales + 2 * S::kLanes * v);
  if constexpr (Format::kHasMin) head.min = S::halves(block + 2 * kTileRows + 2 * S::kLanes * v);
  return head;
}

// Dword j of a row's eight in a panel, for part v.
template <class S>
[[gnu::always_inline]] inline typename S::Bytes nibbles(const unsigned char* p, size_t v, size_t j) {
  const auto pair = S::load(p + 64 * (j % 4) + 4 * S::kLanes * v);
  return j < 4 ? S::low_nibbles(pair) : S::high_nibbles(pair);
}

template <class S, class Format>
  requires(Format::kElements == kPanelCols)
[[gnu::always_inline]] inline typename S::Bytes level(Format, const unsigned char* block, size_t, size_t v, size_t j) {
  if constexpr (!kFullBytes<Format>) return nibbles<S>(block, v, j);
  const auto bytes = S::load(block + 64 * j + 4 * S::kLanes * v);
  return S::kSigned ? bytes : S::flip_signs(bytes);
}

template <class S>
[[gnu::always_inline]] inline typename S::Bytes level(Q4_K, const unsigned char* block, size_t panel, size_t v, size_t j) {
  return nibbles<S>(block + Tiled<Q4_K>::kNibbles + 256 * panel, v, j);
}

template <class S>
[[gnu::always_inline]] inline typename S::Bytes level(Q5_K, const unsigned char* block, size_t panel, size_t v, size_t j) {
  const auto bits = S::load(block + Tiled<Q5_K>::kBits + 64 * panel + 4 * S::kLanes * v);
  return S::template add_bits<0x10>(nibbles<S>(block + Tiled<Q5_K>::kNibbles + 256 * panel, v, j), bits, 4 - static_cast<int>(j));
}

template <class S>
[[gnu::always_inline]] inline typename S::Bytes level(Q6_K, const unsigned char* block, size_t panel, size_t v, size_t j) {
  const auto bits = S::load(block + Tiled<Q6_K>::kBits + 128 * panel + 64 * (j / 4) + 4 * S::kLanes * v);
  return S::template add_bits<0x30>(nibbles<S>(block + Tiled<Q6_K>::kNibbles + 256 * panel, v, j), bits, 4 - 2 * static_cast<int>(j % 4));
}

template <class S>
[[gnu::always_inline]] inline typename S::Bytes level(IQ4_XS, const unsigned char* block, size_t panel, size_t v, size_t j) {
  const auto bytes = S::iq4(nibbles<S>(block + Tiled<IQ4_XS>::kNibbles + 256 * panel, v, j));
  return S::kSigned ? bytes : S::flip_signs(bytes);
}

template <class S, class Format>
[[gnu::always_inline]] inline void read_levels(Format format, const unsigned char* block, size_t panel, size_t v,
                                               typename S::Bytes* levels) {
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) levels[j] = level<S>(format, block, panel, v, j);
}

template <class S, class Format>
[[gnu::always_inline]] inline void read_scales(Format, const Head<S>& head, const unsigned char* block, size_t panel, size_t v,
                                               Panel<S, Format>& out) {
  if constexpr (Format::kElements == kPanelCols) {
    out.scale[0] = head.scale;
  } else {
    const unsigned char* const scales = block + Tiled<Format>::kScales + kTileRows * kPanelGroups<Format> * panel + S::kLanes * v;
#pragma GCC unroll 2
    for (size_t g = 0; g < kPanelGroups<Format>; ++g) {
      const unsigned char* const p = scales + kTileRows * g;
      out.scale[g] = S::mul(head.scale, Format::kHasMin ? S::unsigned_bytes(p) : S::signed_bytes(p));
    }
    if constexpr (Format::kHasMin) {
      out.min = S::mul(head.min, S::unsigned_bytes(block + Tiled<Format>::kMins + kTileRows * panel + S::kLanes * v));
    }
  }
}

}  // namespace
}  // namespace teapot::cpu
