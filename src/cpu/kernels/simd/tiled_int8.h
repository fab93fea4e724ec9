// Tiles of quantised rows x int8 activations, for the vector tables (layout: tiles.h; order of sums: kernels.h, tiled_q8).
#pragma once

#include "cpu/kernels/simd/tiled_halves.h"
#include "cpu/kernels/simd/tiled_unpack.h"
#include "cpu/kernels/simd/token_group.h"

namespace teapot::cpu {
namespace {

// sums[t] += panel x the token's 32 columns of panel p.
template <class S, class Format, int kTokens, class Tokens>
[[gnu::always_inline]] inline void add_panel(const Panel<S, Format>& panel, const Tokens& tokens, size_t p,
                                             typename S::Floats (&sums)[kTokens]) {
  constexpr size_t kGroups = kPanelGroups<Format>;
  constexpr size_t kDwords = 8 / kGroups;
#pragma GCC unroll 16
  for (size_t t = 0; t < kTokens; ++t) {
    const auto scale = S::set(tokens.scale(p, t));
#pragma GCC unroll 2
    for (size_t g = 0; g < kGroups; ++g) {
      int32_t correction = 0;
      if constexpr (kTiledOffset<S, Format> != 0) {
        correction = tokens.template correction < kTiledOffset<S, Format>, kGroups == 2 > (p, g, t);
      }
      const auto dots =
          S::template dot<Tiled<Format>::kLargestLevel, kDwords>(panel.levels + g * kDwords, tokens.q8(p, t) + 4 * kDwords * g, correction);
      sums[t] = S::fma(S::floats(dots), S::mul(panel.scale[g], scale), sums[t]);
    }
    if constexpr (Format::kHasMin) sums[t] = S::fnma(panel.min, S::set(tokens.total(p, t)), sums[t]);
  }
}

// One tile x kTokens tokens; rows [from, to) of its 16 go to out[t * out_stride + ...]. far: of fetch_ahead.
template <class S, class Format, int kTokens, class Tokens>
[[gnu::noinline]] void tile_int8(const unsigned char* tile, size_t far, size_t cols, const Tokens& placed, size_t from, size_t to,
                                 float* out, size_t out_stride) {
  using Layout = Tiled<Format>;
  constexpr size_t kParts = kTileRows / S::kLanes;
  const Tokens tokens = placed;
  const unsigned char* const body = tile + tile_front<Format>(cols);
  const size_t blocks = cols / Format::kElements;
  typename S::Floats sums[kParts][kTokens];
#pragma GCC unroll 2
  for (size_t v = 0; v < kParts; ++v) {
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) sums[v][t] = S::set(0.0f);
  }
  for (size_t b = 0; b < blocks; ++b) {
    const unsigned char* const block = body + b * Layout::kBlock;
    const unsigned char* const front = tile + b * Layout::kFront;
    Head<S> heads[kParts];
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) heads[v] = read_head<S, Format>(front, block, v);
#pragma GCC unroll 1
    for (size_t p = 0; p < Layout::kPanels; ++p) {
      constexpr size_t kPanelBytes = Layout::kBlock / Layout::kPanels;
      fetch_ahead<kPanelBytes>(block + p * kPanelBytes, far);
      Panel<S, Format> panel[kParts];
#pragma GCC unroll 2
      for (size_t v = 0; v < kParts; ++v) read_scales<S>(Format(), heads[v], block, p, v, panel[v]);
      if constexpr (kParts == 2) {
        add_panel_in_halves<S, Format, kTokens>(block, p, panel, tokens, b * Layout::kPanels + p, sums);
      } else {
        read_levels<S>(Format(), block, p, 0, panel[0].levels);
        add_panel<S, Format, kTokens>(panel[0], tokens, b * Layout::kPanels + p, sums[0]);
      }
    }
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTokens; ++t) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) S::store_rows(out + static_cast<size_t>(t) * out_stride, sums[v][t], v, from, to);
  }
}

// All tiles with the same few tokens.
template <class S, class Format, int kTokens>
void placed_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                 size_t begin, float* out, size_t out_stride) {
  const PlacedTokens<kTokens> tokens(x, token_index, begin);
  for_tiles<Format>(weights, cols, first, last, out, [&](const unsigned char* tile, size_t far, size_t from, size_t to, float* y) {
    tile_int8<S, Format, kTokens>(tile, far, cols, tokens, from, to, y, out_stride);
  });
}

// Tile after tile with all tokens of the group: it comes from memory once, and the more of them share what is unpacked the better.
template <class S, class Format>
void grouped_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const TokenGroup& group, size_t count, float* out,
                  size_t out_stride) {
  for_tiles<Format>(weights, cols, first, last, out, [&](const unsigned char* tile, size_t far, size_t from, size_t to, float* y) {
    size_t t = 0;
    if constexpr (S::kTokens == 16) {
      if (t + 16 <= count) {
        tile_int8<S, Format, 16>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
        t += 16;
      }
      if (t + 12 <= count) {
        tile_int8<S, Format, 12>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
        t += 12;
      }
    }
    if constexpr (S::kTokens >= 8) {
      for (; t + 8 <= count; t += 8)
        tile_int8<S, Format, 8>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
      if (count - t > 5) {
        tile_int8<S, Format, 6>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
        t += 6;
      } else if (count - t == 5) {
        return tile_int8<S, Format, 5>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
      }
    }
    for (; t + 4 <= count; t += 4)
      tile_int8<S, Format, 4>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
    for (; t + 2 <= count; t += 2)
      tile_int8<S, Format, 2>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
    if (t < count) tile_int8<S, Format, 1>(tile, far, cols, GroupedTokens{group, t}, from, to, y + t * out_stride, out_stride);
  });
}

template <class S, class Format>
void matmul_tiled_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x,
                       const uint32_t* token_index, size_t tokens, float* out, size_t out_stride) {
  size_t begin = 0;
  if (cols <= kGroupCols) {
    while (tokens - begin > 4) {
      const size_t count = tokens - begin < kGroupTokens ? tokens - begin : kGroupTokens;
      fill<Format, kTiledOffset<S, Format>>(tokens_of_thread, cols, x, token_index, begin, count, count);
      grouped_int8<S, Format>(weights, cols, first, last, tokens_of_thread, count, out + begin * out_stride, out_stride);
      begin += count;
    }
  }
  for (; begin + 4 <= tokens; begin += 4) {
    placed_int8<S, Format, 4>(weights, cols, first, last, x, token_index, begin, out + begin * out_stride, out_stride);
  }
  for (; begin + 2 <= tokens; begin += 2) {
    placed_int8<S, Format, 2>(weights, cols, first, last, x, token_index, begin, out + begin * out_stride, out_stride);
  }
  if (begin < tokens) placed_int8<S, Format, 1>(weights, cols, first, last, x, token_index, begin, out + begin * out_stride, out_stride);
}

}  // namespace
}  // namespace teapot::cpu
