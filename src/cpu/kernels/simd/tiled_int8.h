// Tiles of quantised rows x int8 activations, for the vector tables (layout: tiles.h; order of sums: kernels.h, tiled_q8).
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/tiled_unpack.h"

namespace teapot::cpu {
namespace {

// The row of a token.
struct TiledToken {
  const int8_t* q8;
  const float* scales;
  const int32_t* sums;
  const float* totals;
};

inline TiledToken tiled_token(const Activations& x, size_t row) {
  const size_t at = row * x.stride;
  return {x.q8 + at, x.scales + at / kQuantBlock, x.sums + at / (kQuantBlock / 2), x.totals + at / kQuantBlock};
}

// sums[t] += panel x the token's 32 columns from `column`.
template <class S, class Format, int kTokens>
[[gnu::always_inline]] inline void add_panel(const Panel<S, Format>& panel, const TiledToken* tokens, size_t column,
                                             typename S::Floats (&sums)[kTokens]) {
  constexpr size_t kGroups = kPanelGroups<Format>;
  constexpr size_t kDwords = 8 / kGroups;
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) {
    const TiledToken& token = tokens[t];
    const auto scale = S::set(token.scales[column / kQuantBlock]);
#pragma GCC unroll 2
    for (size_t g = 0; g < kGroups; ++g) {
      int32_t correction = 0;
      if constexpr (kTiledOffset<S, Format> != 0) {
        const int32_t* const halves = token.sums + column / (kQuantBlock / 2);
        correction = -kTiledOffset<S, Format> * (kGroups == 2 ? halves[g] : halves[0] + halves[1]);
      }
      const auto dots = S::template dot<Tiled<Format>::kLargestLevel, kDwords>(panel.levels + g * kDwords,
                                                                               token.q8 + column + 4 * kDwords * g, correction);
      sums[t] = S::fma(S::floats(dots), S::mul(panel.scale[g], scale), sums[t]);
    }
    if constexpr (Format::kHasMin) sums[t] = S::fnma(panel.min, S::set(token.totals[column / kQuantBlock]), sums[t]);
  }
}

// One tile x kTokens tokens; rows [from, to) of its 16 go to out[t * out_stride + ...].
template <class S, class Format, int kTokens>
[[gnu::noinline]] void tile_int8(const unsigned char* tile, size_t cols, const TiledToken* tokens, size_t from, size_t to, float* out,
                                 size_t out_stride) {
  using Layout = Tiled<Format>;
  constexpr size_t kParts = kTileRows / S::kLanes;
  const unsigned char* const body = tile + tile_front<Format>(cols);
  const size_t blocks = cols / Format::kElements;
  typename S::Floats sums[kParts][kTokens];
#pragma GCC unroll 2
  for (size_t v = 0; v < kParts; ++v) {
#pragma GCC unroll 8
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
#pragma GCC unroll 8
      for (size_t i = 0; i < kPanelBytes; i += 64) fetch_ahead(block + p * kPanelBytes + i);
#pragma GCC unroll 2
      for (size_t v = 0; v < kParts; ++v) {
        Panel<S, Format> panel;
        read_scales<S>(Format(), heads[v], block, p, v, panel);
        read_levels<S>(Format(), block, p, v, panel.levels);
        add_panel<S, Format, kTokens>(panel, tokens, b * Format::kElements + p * kPanelCols, sums[v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) S::store_rows(out + static_cast<size_t>(t) * out_stride, sums[v][t], v, from, to);
  }
}

// Tokens in groups of 8, 4, 2, 1.
template <class S, class Format>
[[gnu::always_inline]] inline void tile_int8_any(const unsigned char* tile, size_t cols, const TiledToken* tokens, size_t count,
                                                 size_t from, size_t to, float* out, size_t out_stride) {
  size_t t = 0;
  if constexpr (S::kTokens == 8) {
    for (; t + 8 <= count; t += 8) tile_int8<S, Format, 8>(tile, cols, tokens + t, from, to, out + t * out_stride, out_stride);
  }
  for (; t + 4 <= count; t += 4) tile_int8<S, Format, 4>(tile, cols, tokens + t, from, to, out + t * out_stride, out_stride);
  for (; t + 2 <= count; t += 2) tile_int8<S, Format, 2>(tile, cols, tokens + t, from, to, out + t * out_stride, out_stride);
  if (t < count) tile_int8<S, Format, 1>(tile, cols, tokens + t, from, to, out + t * out_stride, out_stride);
}

// Tiles that are run through with some tokens before the next tokens come: they and the tokens stay in L2.
constexpr size_t kTiledReuseBytes = 256 << 10;
constexpr size_t kTiledTokens = 16;

template <class S, class Format>
void matmul_tiled_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x,
                       const uint32_t* token_index, size_t tokens, float* out, size_t out_stride) {
  if (first == last) return;
  const size_t bytes = tile_bytes<Format>(cols);
  const size_t end_tile = (last + kTileRows - 1) / kTileRows;
  const size_t reuse = tokens > kTiledTokens && bytes < kTiledReuseBytes ? kTiledReuseBytes / bytes : 1;
  for (size_t begin_tile = first / kTileRows; begin_tile < end_tile; begin_tile += reuse) {
    const size_t stop_tile = begin_tile + reuse < end_tile ? begin_tile + reuse : end_tile;
    for (size_t begin = 0; begin < tokens; begin += kTiledTokens) {
      const size_t count = tokens - begin < kTiledTokens ? tokens - begin : kTiledTokens;
      TiledToken group[kTiledTokens];
      for (size_t t = 0; t < count; ++t) group[t] = tiled_token(x, token_index ? token_index[begin + t] : begin + t);
      for (size_t tile = begin_tile; tile < stop_tile; ++tile) {
        const size_t row = tile * kTileRows;
        const size_t from = row < first ? first - row : 0, to = last - row < kTileRows ? last - row : kTileRows;
        float* const y = out + begin * out_stride + (row + from - first);
        tile_int8_any<S, Format>(weights + tile * bytes, cols, group, count, from, to, y, out_stride);
      }
    }
  }
}

}  // namespace
}  // namespace teapot::cpu
