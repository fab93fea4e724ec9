// Up to 16 tokens side by side, as a panel's dots want them: one pointer for all, and the rows of a matrix register.
#pragma once

#include <immintrin.h>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/tiles.h"

namespace teapot::cpu {
namespace {

constexpr size_t kGroupTokens = 16;
constexpr size_t kGroupCols = 32768;  // of activations, at most; wider ones are read where they lie

struct TokenGroup {
  alignas(64) int8_t q8[kGroupCols / kPanelCols][kGroupTokens][kPanelCols];
  alignas(64) float scales[kGroupCols / kPanelCols][kGroupTokens];
  alignas(64) float totals[kGroupCols / kPanelCols][kGroupTokens];
  // What the offset of a format's levels comes to, for each half of a panel, or for all of it in the first: read from memory as it is
  // spread over the lanes, it takes none of the ports that the dots need.
  alignas(64) int32_t corrections[kGroupCols / kPanelCols][2][kGroupTokens];
};

// Too large for a stack; touched as far as a matrix is wide.
thread_local TokenGroup tokens_of_thread;

// GCC 12 takes what is read between statements of assembly for never read, and drops the call.
#ifdef __clang__
#define TEAPOT_KEEP_CALL [[gnu::noinline]]
#else
#define TEAPOT_KEEP_CALL [[gnu::noipa]]
#endif

// Tokens [begin, begin + count) of a call, with what Format asks of them; slots up to `slots` that have no token get zeros. offset: of the
// levels as the kernel reads them.
template <class Format, int32_t offset>
TEAPOT_KEEP_CALL void fill(TokenGroup& group, size_t cols, const Activations& x, const uint32_t* token_index, size_t begin, size_t count,
                           size_t slots) {
  constexpr bool kHalves = Format::kGroup < kPanelCols;
  size_t rows[kGroupTokens];
  for (size_t t = 0; t < count; ++t) rows[t] = (token_index ? token_index[begin + t] : begin + t) * x.stride;
  for (size_t p = 0; p < cols / kPanelCols; ++p) {
    for (size_t t = 0; t < count; ++t) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x.q8 + rows[t] + p * kPanelCols));
      _mm256_store_si256(reinterpret_cast<__m256i*>(group.q8[p][t]), bytes);
    }
    for (size_t t = 0; t < count; ++t) group.scales[p][t] = x.scales[rows[t] / kQuantBlock + p];
    for (size_t t = count; t < slots; ++t) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(group.q8[p][t]), _mm256_setzero_si256());
      group.scales[p][t] = 0;
    }
    if constexpr (Format::kHasMin) {
      for (size_t t = 0; t < count; ++t) group.totals[p][t] = x.totals[rows[t] / kQuantBlock + p];
      for (size_t t = count; t < slots; ++t) group.totals[p][t] = 0;
    }
    if constexpr (offset != 0) {
      for (size_t t = 0; t < count; ++t) {
        const int32_t* const sums = x.sums + rows[t] / (kQuantBlock / 2) + 2 * p;
        group.corrections[p][0][t] = -offset * (kHalves ? sums[0] : sums[0] + sums[1]);
        if constexpr (kHalves) group.corrections[p][1][t] = -offset * sums[1];
      }
      for (size_t t = count; t < slots; ++t) group.corrections[p][0][t] = group.corrections[p][1][t] = 0;
    }
  }
}

// Where a kernel finds its tokens: in the group, from a slot on.
struct GroupedTokens {
  const TokenGroup& group;
  size_t slot;

  const int8_t* q8(size_t panel, size_t t) const { return group.q8[panel][slot + t]; }
  float scale(size_t panel, size_t t) const { return group.scales[panel][slot + t]; }
  float total(size_t panel, size_t t) const { return group.totals[panel][slot + t]; }
  template <int kOffset, bool kHalves>
  const int32_t& correction(size_t panel, size_t half, size_t t) const {
    return group.corrections[panel][half][slot + t];
  }
};

// The same, where they lie: for so few that their pointers stay in registers.
template <int kTokens>
struct PlacedTokens {
  struct Row {
    const int8_t* q8;
    const float* scales;
    const float* totals;
    const int32_t* sums;
  };
  Row rows[kTokens];

  PlacedTokens(const Activations& x, const uint32_t* token_index, size_t begin) {
    for (size_t t = 0; t < kTokens; ++t) {
      const size_t at = (token_index ? token_index[begin + t] : begin + t) * x.stride;
      rows[t] = {x.q8 + at, x.scales + at / kQuantBlock, x.totals + at / kQuantBlock, x.sums + at / (kQuantBlock / 2)};
    }
  }
  const int8_t* q8(size_t panel, size_t t) const { return rows[t].q8 + panel * kPanelCols; }
  float scale(size_t panel, size_t t) const { return rows[t].scales[panel]; }
  float total(size_t panel, size_t t) const { return rows[t].totals[panel]; }
  template <int kOffset, bool kHalves>
  int32_t correction(size_t panel, size_t half, size_t t) const {
    const int32_t* const sums = rows[t].sums + 2 * panel;
    return -kOffset * (kHalves ? sums[half] : sums[0] + sums[1]);
  }
};

}  // namespace
}  // namespace teapot::cpu
