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

inline __m256i first_lanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// The row of a token.
struct Token {
  const int8_t* q8;
  const float* scales;
  const int32_t* sums;
};

inline Token token_at(const Activations& x, size_t row) {
  const size_t at = row * x.stride;
  return {x.q8 + at, x.scales + at / kQuantBlock, x.sums + at / (kQuantBlock / 2)};
}

template <bool kWhole>
[[gnu::always_inline]] inline __m256i load_ints(const int32_t* p, size_t count) {
  if constexpr (kWhole) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm256_maskload_epi32(p, first_lanes(count));
}

// Of one token and 256 columns, in the form of the weights' scales: a scale for each of them, and -scale * sum for each minimum.
template <class Format, bool kWhole>
[[gnu::always_inline]] inline void token_scales(const Token& token, size_t group, size_t blocks, Scales<Format>& out) {
  const float* scales = token.scales + group * kGroupWeights / kQuantBlock;
  const int32_t* sums = token.sums + group * kGroupWeights / (kQuantBlock / 2);
  const __m256 scale = kWhole ? _mm256_loadu_ps(scales) : _mm256_maskload_ps(scales, first_lanes(blocks));
  const __m256 minus = _mm256_sub_ps(_mm256_setzero_ps(), scale);
  if constexpr (Format::kGroup == 32) {
    out.scale[0] = scale;
    if constexpr (Format::kHasMin) {
      const __m256i low = load_ints<kWhole>(sums, 2 * blocks);
      const __m256i high = kWhole || blocks > 4 ? load_ints<kWhole>(sums + 8, 2 * blocks - 8) : _mm256_setzero_si256();
      const __m256i pairs = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xd8);
      out.min[0] = _mm256_mul_ps(minus, _mm256_cvtepi32_ps(pairs));
    }
  } else {
    static_assert(kWhole);
    const __m256i lower = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3), upper = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
    out.scale[0] = _mm256_permutevar8x32_ps(scale, lower);
    out.scale[1] = _mm256_permutevar8x32_ps(scale, upper);
    if constexpr (Format::kHasMin) {
      out.min[0] = _mm256_mul_ps(_mm256_permutevar8x32_ps(minus, lower), _mm256_cvtepi32_ps(load_ints<true>(sums, 8)));
      out.min[1] = _mm256_mul_ps(_mm256_permutevar8x32_ps(minus, upper), _mm256_cvtepi32_ps(load_ints<true>(sums + 8, 8)));
    }
  }
}

// Scales of a row times those of a token.
template <class S>
struct Products {
  typename S::Spread scale;
  typename S::Floats min;  // the minima's part of the sum
};

template <class S, class Format>
[[gnu::always_inline]] inline Products<S> multiply(const Scales<Format>& weights, const Scales<Format>& token) {
  __m256 scale[2] = {}, min = _mm256_setzero_ps();
#pragma GCC unroll 2
  for (size_t i = 0; i < Scales<Format>::kRegisters; ++i) {
    scale[i] = _mm256_mul_ps(weights.scale[i], token.scale[i]);
    if constexpr (Format::kHasMin)
      min = i == 0 ? _mm256_mul_ps(weights.min[i], token.min[i]) : _mm256_fmadd_ps(weights.min[i], token.min[i], min);
  }
  return {S::template spread<Format::kGroup>(scale), S::widen(min)};
}

// sums[r] += levels of row r . 256 columns of the token.
template <class S, class Format, bool kWhole, int kRows>
[[gnu::always_inline]] inline void add_group(const typename S::Bytes (&levels)[kRows][S::kPieces], const Products<S> (&products)[kRows],
                                             const int8_t* q8, size_t blocks, typename S::Floats (&sums)[kRows]) {
  typename S::Floats parts[kRows][S::kChains];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    parts[r][0] = products[r].min;
#pragma GCC unroll 2
    for (size_t i = 1; i < S::kChains; ++i) parts[r][i] = S::widen(_mm256_setzero_ps());
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < S::kPieces; ++i) {
    if (!kWhole && i * 8 / S::kPieces >= blocks) break;
    const auto bytes = S::load(q8 + i * kGroupWeights / S::kPieces);
    const auto correction = S::template correction<Format::kOffset>(bytes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto dots = S::template dot<Format::kOffset>(levels[r][i], bytes, correction);
      auto& part = parts[r][i % S::kChains];
      part = S::fma(S::floats(dots), S::template scale_of<Format::kGroup>(products[r].scale, i), part);
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

template <class Format>
constexpr size_t kGroupBytes = kGroupWeights / Format::kElements * Format::kBytes;

inline void fetch(const unsigned char* p, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) _mm_prefetch(reinterpret_cast<const char*>(p + i), _MM_HINT_T0);
}

// The last blocks of a row, fewer than a group, x each of the tokens.
template <class S, class Format, int kRows>
void int8_end(const unsigned char* weights, size_t row_bytes, size_t group, size_t blocks, const Token* tokens, size_t count,
              typename S::Floats (*sums)[kRows]) {
  Scales<Format> scales[kRows];
  typename S::Bytes levels[kRows][S::kPieces];
  for (int r = 0; r < kRows; ++r) {
    const unsigned char* p = weights + r * row_bytes + group * kGroupBytes<Format>;
    unpack_scales<false, S>(Format(), p, blocks, scales[r]);
    unpack_levels<false, S>(Format(), p, blocks, levels[r]);
  }
  for (size_t t = 0; t < count; ++t) {
    Scales<Format> token;
    token_scales<Format, false>(tokens[t], group, blocks, token);
    Products<S> products[kRows];
    for (int r = 0; r < kRows; ++r) products[r] = multiply<S, Format>(scales[r], token);
    add_group<S, Format, false, kRows>(levels, products, tokens[t].q8 + group * kGroupWeights, blocks, sums[t]);
  }
}

// One token is bound by memory: row after row, since the processor's own prefetcher follows one stream well and two interleaved ones badly
// (on Zen 4 by a factor of 2), and 4 KiB ahead of it, over the borders of pages.
constexpr size_t kAheadBytes = 4096;

// What a token brings to the groups of each row, made once for all rows; of columns beyond, it is made anew for each row.
constexpr size_t kPreparedGroups = 64;

// One row x one token. The scales go one group ahead of the dots: their decoding is a chain as long as that of the sums, and the
// processor's window holds hardly more than one group's instructions.
template <class S, class Format>
[[gnu::noinline]] float int8_row(const unsigned char* row, size_t cols, const Token& token, const Scales<Format>* prepared) {
  const auto products_of = [&](size_t g) {
    Scales<Format> weights;
    unpack_scales<true, S>(Format(), row + g * kGroupBytes<Format>, 8, weights);
    if (g < kPreparedGroups) [[likely]]
      return multiply<S, Format>(weights, prepared[g]);
    Scales<Format> other;
    token_scales<Format, true>(token, g, 8, other);
    return multiply<S, Format>(weights, other);
  };
  const size_t whole = cols / kGroupWeights;
  typename S::Floats sums[1] = {S::widen(_mm256_setzero_ps())};
  if (whole > 0) {
    Products<S> next[1] = {products_of(0)};
    for (size_t g = 0; g < whole; ++g) {
      const Products<S> products[1] = {next[0]};
      const unsigned char* p = row + g * kGroupBytes<Format>;
      fetch(p + kAheadBytes, kGroupBytes<Format>);
      next[0] = products_of(g + 1 < whole ? g + 1 : g);
      typename S::Bytes levels[1][S::kPieces];
      unpack_levels<true, S>(Format(), p, 8, levels[0]);
      add_group<S, Format, true, 1>(levels, products, token.q8 + g * kGroupWeights, 8, sums);
    }
  }
  if constexpr (Format::kElements < kGroupWeights) {
    if (const size_t blocks = cols % kGroupWeights / Format::kElements; blocks > 0) {
      int8_end<S, Format, 1>(row, 0, whole, blocks, &token, 1, &sums);
    }
  }
  return S::sum(sums[0]);
}

constexpr size_t kInt8Tokens = 8;  // of a tile: their sums stay in L1

// kRows rows x up to kInt8Tokens tokens. Several tokens are bound by arithmetic: rows share what is loaded of a token, and the rows
// after them are fetched meanwhile.
template <class S, class Format, int kRows>
[[gnu::noinline]] void int8_tile(const unsigned char* weights, size_t row_bytes, size_t cols, const Token* tokens, size_t count, float* out,
                                 size_t out_stride) {
  typename S::Floats sums[kInt8Tokens][kRows];
  for (size_t t = 0; t < count; ++t) {
    for (auto& sum : sums[t]) sum = S::widen(_mm256_setzero_ps());
  }
  const size_t whole = cols / kGroupWeights;
  for (size_t g = 0; g < whole; ++g) {
    Scales<Format> scales[kRows];
    typename S::Bytes levels[kRows][S::kPieces];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const unsigned char* p = weights + r * row_bytes + g * kGroupBytes<Format>;
      fetch(p + kRows * row_bytes, kGroupBytes<Format>);
      unpack_scales<true, S>(Format(), p, 8, scales[r]);
      unpack_levels<true, S>(Format(), p, 8, levels[r]);
    }
    for (size_t t = 0; t < count; ++t) {
      Scales<Format> token;
      token_scales<Format, true>(tokens[t], g, 8, token);
      Products<S> products[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) products[r] = multiply<S, Format>(scales[r], token);
      add_group<S, Format, true, kRows>(levels, products, tokens[t].q8 + g * kGroupWeights, 8, sums[t]);
    }
  }
  if constexpr (Format::kElements < kGroupWeights) {
    if (const size_t blocks = cols % kGroupWeights / Format::kElements; blocks > 0) {
      int8_end<S, Format, kRows>(weights, row_bytes, whole, blocks, tokens, count, sums);
    }
  }
  for (size_t t = 0; t < count; ++t) {
    for (int r = 0; r < kRows; ++r) out[t * out_stride + r] = S::sum(sums[t][r]);
  }
}

template <class S, class Format>
void matmul_int8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                 size_t tokens, float* out, size_t out_stride) {
  const size_t row_bytes = cols / Format::kElements * Format::kBytes;
  for (size_t begin = 0; begin < tokens; begin += kInt8Tokens) {
    const size_t count = tokens - begin < kInt8Tokens ? tokens - begin : kInt8Tokens;
    Token tile[kInt8Tokens];
    for (size_t t = 0; t < count; ++t) tile[t] = token_at(x, token_index ? token_index[begin + t] : begin + t);
    float* const y = out + begin * out_stride;
    if (count == 1) {
      Scales<Format> prepared[kPreparedGroups];
      for (size_t g = 0; g < kPreparedGroups && g < cols / kGroupWeights; ++g) token_scales<Format, true>(tile[0], g, 8, prepared[g]);
      for (size_t r = first; r < last; ++r) y[r - first] = int8_row<S, Format>(weights + r * row_bytes, cols, tile[0], prepared);
      continue;
    }
    size_t r = first;
    for (; r + 2 <= last; r += 2) {
      int8_tile<S, Format, 2>(weights + r * row_bytes, row_bytes, cols, tile, count, y + (r - first), out_stride);
    }
    if (r < last) int8_tile<S, Format, 1>(weights + r * row_bytes, row_bytes, cols, tile, count, y + (r - first), out_stride);
  }
}

}  // namespace
}  // namespace teapot::cpu
