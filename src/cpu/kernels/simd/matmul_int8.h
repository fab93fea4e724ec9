// Quantised rows x int8 activations, for the vector tables.
//
// Work goes in groups of 256 columns. Order of a (row, token): in each group the minima's part first, then piece after piece (32 or 64
// columns, a register of bytes) the integer dots of four columns, exact, times the scales of weight and activation; groups add up in one
// register, whose lanes are summed at the end. Tiles of rows and tokens only decide what shares an unpacking or a load.
//
// S is the instruction set's part (int8.h beside each table): registers, the dot, and where the scales' lanes go.
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/unpack.h"

namespace teapot::cpu {
namespace {

template <class S, class Format>
struct WeightGroup {
  typename S::Bytes piece[S::kPieces];
  __m256 scale[Levels<Format>::kScales];
  __m256 min[Levels<Format>::kScales];
};

template <class S, class Format, bool kWhole>
[[gnu::always_inline]] inline void load_group(const unsigned char* p, size_t blocks, WeightGroup<S, Format>& out) {
  Levels<Format> levels;
  unpack<kWhole>(Format(), p, blocks, levels);
#pragma GCC unroll 8
  for (size_t i = 0; i < S::kPieces; ++i) out.piece[i] = S::join(levels.level + i * 8 / S::kPieces);
#pragma GCC unroll 2
  for (size_t i = 0; i < Levels<Format>::kScales; ++i) {
    out.scale[i] = levels.scale[i];
    if constexpr (Format::kHasMin) out.min[i] = levels.min[i];
  }
}

inline __m256i first_lanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

template <bool kWhole>
__m256i load_ints(const int32_t* p, size_t count) {
  if constexpr (kWhole) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm256_maskload_epi32(p, first_lanes(count));
}

// Of one token and 256 columns: a scale for each scale of the weights, and -scale * sum for each minimum.
template <class Format>
struct TokenScales {
  __m256 scale[Levels<Format>::kScales];
  __m256 minus_sum[Levels<Format>::kScales];
};

template <class Format, bool kWhole>
[[gnu::always_inline]] inline void load_scales(const Activations& x, size_t at, size_t blocks, TokenScales<Format>& out) {
  const float* scales = x.scales + at / kQuantBlock;
  const int32_t* sums = x.sums + at / (kQuantBlock / 2);
  const __m256 scale = kWhole ? _mm256_loadu_ps(scales) : _mm256_maskload_ps(scales, first_lanes(blocks));
  const __m256 minus = _mm256_sub_ps(_mm256_setzero_ps(), scale);
  if constexpr (Format::kGroup == 32) {
    out.scale[0] = scale;
    if constexpr (Format::kHasMin) {
      const __m256i low = load_ints<kWhole>(sums, 2 * blocks);
      const __m256i high = kWhole || blocks > 4 ? load_ints<kWhole>(sums + 8, 2 * blocks - 8) : _mm256_setzero_si256();
      const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xd8);
      out.minus_sum[0] = _mm256_mul_ps(minus, _mm256_cvtepi32_ps(pairs));
    }
  } else {
    static_assert(kWhole);
    const __m256i lower = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3), upper = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
    out.scale[0] = _mm256_permutevar8x32_ps(scale, lower);
    out.scale[1] = _mm256_permutevar8x32_ps(scale, upper);
    if constexpr (Format::kHasMin) {
      out.minus_sum[0] = _mm256_mul_ps(_mm256_permutevar8x32_ps(minus, lower), _mm256_cvtepi32_ps(load_ints<true>(sums, 8)));
      out.minus_sum[1] = _mm256_mul_ps(_mm256_permutevar8x32_ps(minus, upper), _mm256_cvtepi32_ps(load_ints<true>(sums + 8, 8)));
    }
  }
}

// sums[r] += group r . the token's 256 columns at x.q8 + at.
template <class S, class Format, bool kWhole, int kRows>
[[gnu::always_inline]] inline void add_group(const WeightGroup<S, Format> (&groups)[kRows], const Activations& x, size_t at, size_t blocks,
                                             typename S::Floats (&sums)[kRows]) {
  constexpr size_t kScales = Levels<Format>::kScales;
  TokenScales<Format> token;
  load_scales<Format, kWhole>(x, at, blocks, token);
  typename S::Floats parts[kRows][S::kChains];
  typename S::Spread spread[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    __m256 scale[kScales], min = _mm256_setzero_ps();
#pragma GCC unroll 2
    for (size_t i = 0; i < kScales; ++i) {
      scale[i] = _mm256_mul_ps(groups[r].scale[i], token.scale[i]);
      if constexpr (Format::kHasMin) min = _mm256_fmadd_ps(groups[r].min[i], token.minus_sum[i], min);
    }
    spread[r] = S::template spread<Format::kGroup>(scale);
    parts[r][0] = S::widen(min);
#pragma GCC unroll 2
    for (size_t i = 1; i < S::kChains; ++i) parts[r][i] = S::widen(_mm256_setzero_ps());
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < S::kPieces; ++i) {
    if (!kWhole && i * 8 / S::kPieces >= blocks) break;
    const auto bytes = S::load(x.q8 + at + i * kGroupWeights / S::kPieces);
    const auto correction = S::template correction<Format::kOffset>(bytes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto dots = S::template dot<Format::kOffset>(groups[r].piece[i], bytes, correction);
      auto& part = parts[r][i % S::kChains];
      part = S::fma(S::floats(dots), S::template scale_of<Format::kGroup>(spread[r], i), part);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    auto part = parts[r][0];
#pragma GCC unroll 2
    for (size_t i = 1; i < S::kChains; ++i) part = S::add(part, parts[r][i]);
    sums[r] = S::add(sums[r], part);
  }
}

constexpr size_t kInt8Tokens = 8;  // of a tile: their sums stay in L1

// kRows rows from `weights` x the tokens whose columns begin at starts[]. kSingle: one token, its sums in registers.
template <class S, class Format, int kRows, bool kSingle>
void int8_tile(const unsigned char* weights, size_t row_bytes, size_t cols, const Activations& x, const size_t* starts, size_t tokens,
               float* out, size_t out_stride) {
  constexpr size_t kGroupBytes = kGroupWeights / Format::kElements * Format::kBytes;
  const size_t count = kSingle ? 1 : tokens;
  typename S::Floats sums[kSingle ? 1 : kInt8Tokens][kRows];
  for (size_t t = 0; t < count; ++t) {
    for (auto& sum : sums[t]) sum = S::widen(_mm256_setzero_ps());
  }
  const size_t whole = cols / kGroupWeights;
  for (size_t g = 0; g < whole; ++g) {
    WeightGroup<S, Format> groups[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const unsigned char* p = weights + r * row_bytes + g * kGroupBytes;
      if constexpr (kSingle) S::prefetch(p, kGroupBytes, kRows * row_bytes);
      load_group<S, Format, true>(p, 8, groups[r]);
    }
    for (size_t t = 0; t < count; ++t) add_group<S, Format, true, kRows>(groups, x, starts[t] + g * kGroupWeights, 8, sums[t]);
  }
  if constexpr (Format::kElements < kGroupWeights) {
    if (const size_t blocks = cols % kGroupWeights / Format::kElements; blocks > 0) {
      WeightGroup<S, Format> groups[kRows];
      for (int r = 0; r < kRows; ++r) load_group<S, Format, false>(weights + r * row_bytes + whole * kGroupBytes, blocks, groups[r]);
      for (size_t t = 0; t < count; ++t) {
        add_group<S, Format, false, kRows>(groups, x, starts[t] + whole * kGroupWeights, blocks, sums[t]);
      }
    }
  }
  for (size_t t = 0; t < count; ++t) {
    for (int r = 0; r < kRows; ++r) out[t * out_stride + r] = S::sum(sums[t][r]);
  }
}

template <class S, class Format, int kRows>
void int8_rows(const unsigned char* weights, size_t row_bytes, size_t cols, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride) {
  for (size_t begin = 0; begin < tokens; begin += kInt8Tokens) {
    const size_t count = tokens - begin < kInt8Tokens ? tokens - begin : kInt8Tokens;
    size_t starts[kInt8Tokens];
    for (size_t t = 0; t < count; ++t) starts[t] = (token_index ? token_index[begin + t] : begin + t) * x.stride;
    float* const y = out + begin * out_stride;
    if (count == 1) {
      int8_tile<S, Format, kRows, true>(weights, row_bytes, cols, x, starts, count, y, out_stride);
    } else {
      int8_tile<S, Format, kRows, false>(weights, row_bytes, cols, x, starts, count, y, out_stride);
    }
  }
}

template <class S, class Format>
void matmul_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                 size_t tokens, float* out, size_t out_stride) {
  const size_t row_bytes = cols / Format::kElements * Format::kBytes;
  size_t r = first;
  for (; r + 2 <= last; r += 2) {
    int8_rows<S, Format, 2>(weights + r * row_bytes, row_bytes, cols, x, token_index, tokens, out + (r - first), out_stride);
  }
  if (r < last) int8_rows<S, Format, 1>(weights + r * row_bytes, row_bytes, cols, x, token_index, tokens, out + (r - first), out_stride);
}

}  // namespace
}  // namespace teapot::cpu
