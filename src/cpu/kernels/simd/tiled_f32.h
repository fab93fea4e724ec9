// Tiles of rows x f32 activations, for the vector tables (layout: tiles.h; order of sums: kernels.h, tiled_f32).
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/tiled_unpack.h"

namespace teapot::cpu {
namespace {

// Two columns of part v of a tile of floats.
template <class S>
[[gnu::always_inline]] inline void read_pair(F32, const unsigned char* p, size_t v, typename S::Floats& even, typename S::Floats& odd) {
  even = S::load_floats(p + 4 * S::kLanes * v);
  odd = S::load_floats(p + 64 + 4 * S::kLanes * v);
}
template <class S>
[[gnu::always_inline]] inline void read_pair(F16, const unsigned char* p, size_t v, typename S::Floats& even, typename S::Floats& odd) {
  even = S::halves(p + 2 * S::kLanes * v);
  odd = S::halves(p + 32 + 2 * S::kLanes * v);
}
template <class S>
[[gnu::always_inline]] inline void read_pair(BF16, const unsigned char* p, size_t v, typename S::Floats& even, typename S::Floats& odd) {
  const auto both = S::load(p + 4 * S::kLanes * v);
  even = S::low_bf16(both);
  odd = S::high_bf16(both);
}

template <class S, int kTokens>
struct Chains {
  typename S::Floats even[kTokens], odd[kTokens];
};

template <class S, class Format, int kTokens, size_t kParts>
  requires(Format::kElements == 1)
[[gnu::always_inline]] inline void add_columns(Format format, const unsigned char* tile, size_t far, size_t cols, size_t part,
                                               const float* const* tokens, Chains<S, kTokens> (&sums)[kParts]) {
  for (size_t c = 0; c < cols; c += 2) {
    const unsigned char* const p = tile + c / 2 * Tiled<Format>::kPairBytes;
    fetch_ahead<Tiled<Format>::kPairBytes>(p, far);
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) {
      typename S::Floats even, odd;
      read_pair<S>(format, p, part + v, even, odd);
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) {
        sums[v].even[t] = S::fma(even, S::set(tokens[t][c]), sums[v].even[t]);
        sums[v].odd[t] = S::fma(odd, S::set(tokens[t][c + 1]), sums[v].odd[t]);
      }
    }
  }
}

template <class S, class Format, int kTokens>
[[gnu::always_inline]] inline void add_weights(const Panel<S, Format>& panel, const float* const* tokens, size_t column,
                                               Chains<S, kTokens>& sums) {
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const auto level = S::template level_floats < kTiledOffset<S, Format>, S::kSigned && kFullBytes < Format >> (panel.levels[j], k);
      auto weight = S::mul(panel.scale[j * kPanelGroups<Format> / 8], level);
      if constexpr (Format::kHasMin) weight = S::sub(weight, panel.min);
      auto& chain = k % 2 == 0 ? sums.even : sums.odd;
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) {
        chain[t] = S::fma(weight, S::set(tokens[t][column + 4 * j + static_cast<size_t>(k)]), chain[t]);
      }
    }
  }
}

template <class S, class Format, int kTokens, size_t kParts>
[[gnu::always_inline]] inline void add_columns(Format format, const unsigned char* tile, size_t, size_t cols, size_t part,
                                               const float* const* tokens, Chains<S, kTokens> (&sums)[kParts]) {
  using Layout = Tiled<Format>;
  const unsigned char* const body = tile + tile_front<Format>(cols);
  for (size_t b = 0; b < cols / Format::kElements; ++b) {
    const unsigned char* const block = body + b * Layout::kBlock;
    for (size_t p = 0; p < Layout::kPanels; ++p) {
      for (size_t v = 0; v < kParts; ++v) {
        const Head<S> head = read_head<S, Format>(tile + b * Layout::kFront, block, part + v);
        Panel<S, Format> panel;
        read_scales<S>(format, head, block, p, part + v, panel);
        read_levels<S>(format, block, p, part + v, panel.levels);
        add_weights<S, Format, kTokens>(panel, tokens, b * Format::kElements + p * kPanelCols, sums[v]);
      }
    }
  }
}

// One tile x kTokens tokens. With few tokens all its parts go together, so that memory is read once; with more, the registers hold one
// part's sums only.
template <class S, class Format, int kTokens>
[[gnu::noinline]] void tile_f32(const unsigned char* tile, size_t far, size_t cols, const float* const* tokens, size_t from, size_t to,
                                float* out, size_t out_stride) {
  constexpr size_t kAll = kTileRows / S::kLanes, kParts = kTokens <= 2 ? kAll : 1;
  for (size_t part = 0; part < kAll; part += kParts) {
    Chains<S, kTokens> sums[kParts];
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) {
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) sums[v].even[t] = sums[v].odd[t] = S::set(0.0f);
    }
    add_columns<S, Format, kTokens, kParts>(Format(), tile, far, cols, part, tokens, sums);
#pragma GCC unroll 2
    for (size_t v = 0; v < kParts; ++v) {
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t)
        S::store_rows(out + static_cast<size_t>(t) * out_stride, S::add(sums[v].even[t], sums[v].odd[t]), part + v, from, to);
    }
  }
}

template <class S, class Format>
void matmul_tiled_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x,
                      const uint32_t* token_index, size_t tokens, float* out, size_t out_stride) {
  for_tiles<Format>(weights, cols, first, last, out, [&](const unsigned char* tile, size_t far, size_t from, size_t to, float* y) {
    const auto run = [&]<int kTokens>(size_t t) {
      const float* group[kTokens];
      for (size_t i = 0; i < kTokens; ++i) group[i] = x.f32 + (token_index ? token_index[t + i] : t + i) * x.stride;
      tile_f32<S, Format, kTokens>(tile, far, cols, group, from, to, y + t * out_stride, out_stride);
    };
    size_t t = 0;
    if constexpr (S::kFloatTokens >= 8) {
      for (; t + 8 <= tokens; t += 8) run.template operator()<8>(t);
    }
    for (; t + 4 <= tokens; t += 4) run.template operator()<4>(t);
    for (; t + 2 <= tokens; t += 2) run.template operator()<2>(t);
    if (t < tokens) run.template operator()<1>(t);
  });
}

}  // namespace
}  // namespace teapot::cpu
