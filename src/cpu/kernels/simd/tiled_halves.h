// Panels of tiles where a register holds half of their rows and registers are few: dword after dword of both halves with a few tokens, so
// that a level leaves its register when it is done and an activation spread over a register serves both halves. The sums are those of
// add_panel (tiled_int8.h): dots are integers, which have no order.
#pragma once

#include "cpu/kernels/simd/tiled_unpack.h"

namespace teapot::cpu {
namespace {

// Levels as they are asked for, from the tile: for tokens that are all served at once.
template <class S, class Format>
struct PackedLevels {
  const unsigned char* block;
  size_t panel;
  typename S::Bytes at(size_t v, size_t j) const { return level<S>(Format(), block, panel, v, j); }
};

// The same, unpacked once for more tokens than that.
template <class S, class Format>
struct UnpackedLevels {
  typename S::Bytes levels[2][8];
  [[gnu::always_inline]] UnpackedLevels(const unsigned char* block, size_t panel) {
#pragma GCC unroll 2
    for (size_t v = 0; v < 2; ++v) read_levels<S>(Format(), block, panel, v, levels[v]);
  }
  typename S::Bytes at(size_t v, size_t j) const { return levels[v][j]; }
};

template <class S, size_t kTokens>
struct HalvesDots {
  typename S::Bytes part[2][kTokens];
};

// The dots of group g of the panel with tokens [first, first + kTokens), as 32-bit lanes.
template <class S, class Format, size_t kTokens, class Levels, class Tokens>
[[gnu::always_inline]] inline HalvesDots<S, kTokens> dots_of_halves(const Levels& levels, size_t g, const Tokens& tokens, size_t p,
                                                                    size_t first) {
  constexpr size_t kDwords = 8 / kPanelGroups<Format>;
  constexpr size_t kTogether = kPairsTogether<Tiled<Format>::kLargestLevel>;
  constexpr size_t kAtOnce = kTogether == 2 ? 2 : 1;
  HalvesDots<S, kTokens> pairs, dots;
#pragma GCC unroll 8
  for (size_t i = 0; i < kDwords; i += kAtOnce) {
    typename S::Bytes level[kAtOnce][2];
    size_t dword[kAtOnce];
#pragma GCC unroll 2
    for (size_t k = 0; k < kAtOnce; ++k) {
      dword[k] = kDwords == 8 ? i / 2 + i % 2 * 4 : kDwords * g + i + k;  // of eight the two nibbles of a byte one after the other
      level[k][0] = levels.at(0, dword[k]);
      level[k][1] = levels.at(1, dword[k]);
    }
#pragma GCC unroll 4
    for (size_t t = 0; t < kTokens; ++t) {
      typename S::Bytes products[2];
#pragma GCC unroll 2
      for (size_t k = 0; k < kAtOnce; ++k) {
        const auto four = S::four_of_all(tokens.q8(p, first + t) + 4 * dword[k]);
#pragma GCC unroll 2
        for (size_t v = 0; v < 2; ++v) {
          const auto product = S::template products<kFullBytes<Format>>(level[k][v], four);
          products[v] = k == 0 ? product : S::add_pairs(products[v], product);
        }
      }
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        auto& sum = pairs.part[v][t];
        sum = i % kTogether == 0 ? products[v] : S::add_pairs(sum, products[v]);
        if ((i + kAtOnce) % kTogether == 0 || i + kAtOnce == kDwords) {
          const auto joined = S::join_pairs(sum);
          dots.part[v][t] = i < kTogether ? joined : S::add_dwords(dots.part[v][t], joined);
        }
      }
    }
  }
  return dots;
}

// sums[v][first + t] += part v of the panel, which is the row's p-th, x the token's 32 columns, for kTokens tokens from `first` on.
template <class S, class Format, size_t kTokens, class Levels, class Tokens, size_t kAll>
[[gnu::always_inline]] inline void add_halves(const Levels& levels, const Panel<S, Format> (&panel)[2], const Tokens& tokens, size_t p,
                                              size_t first, typename S::Floats (&sums)[2][kAll]) {
  constexpr size_t kGroups = kPanelGroups<Format>;
#pragma GCC unroll 2
  for (size_t g = 0; g < kGroups; ++g) {
    const auto dots = dots_of_halves<S, Format, kTokens>(levels, g, tokens, p, first);
#pragma GCC unroll 4
    for (size_t t = 0; t < kTokens; ++t) {
      const auto scale = S::set(tokens.scale(p, first + t));
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        auto dot = dots.part[v][t];
        if constexpr (kTiledOffset<S, Format> != 0) {
          dot = S::add_dwords(dot, S::set_dwords(tokens.template correction < kTiledOffset<S, Format>, kGroups == 2 > (p, g, first + t)));
        }
        auto& sum = sums[v][first + t];
        sum = S::fma(S::floats(dot), S::mul(panel[v].scale[g], scale), sum);
        if constexpr (Format::kHasMin) {
          static_assert(kGroups == 1);
          sum = S::fnma(panel[v].min, S::set(tokens.total(p, first + t)), sum);
        }
      }
    }
  }
}

// The same for all tokens of a call, so many at once that their dots stay in registers.
template <class S, class Format, size_t kTokens, class Tokens>
[[gnu::always_inline]] inline void add_panel_in_halves(const unsigned char* block, size_t panel, const Panel<S, Format> (&scales)[2],
                                                       const Tokens& tokens, size_t p, typename S::Floats (&sums)[2][kTokens]) {
  if constexpr (kTokens <= 4) {
    add_halves<S, Format, kTokens>(PackedLevels<S, Format>{block, panel}, scales, tokens, p, 0, sums);
  } else {
    constexpr size_t kSome = kTokens % 4 == 0 && kPairsTogether<Tiled<Format>::kLargestLevel> != 2 ? 4 : 3, kRest = kTokens % kSome;
    const UnpackedLevels<S, Format> levels(block, panel);
#pragma GCC unroll 1
    for (size_t first = 0; first + kSome <= kTokens; first += kSome) add_halves<S, Format, kSome>(levels, scales, tokens, p, first, sums);
    if constexpr (kRest > 0) add_halves<S, Format, kRest>(levels, scales, tokens, p, kTokens - kRest, sums);
  }
}

}  // namespace
}  // namespace teapot::cpu
