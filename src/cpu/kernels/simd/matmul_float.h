// Rows of F32, F16 or BF16 x f32 activations, for the vector tables.
//
// Order of a (row, token): even and odd vectors of the row in two sums, the end of the row filled up with zeros, the sums added, the lanes
// added. Tiles of rows and tokens only decide what shares a load.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/formats.h"
#include "cpu/kernels/kernels.h"

namespace teapot::cpu {
namespace {

template <class V>
typename V::Type load_weights(F32, const unsigned char* p) {
  return V::load(reinterpret_cast<const float*>(p));
}
template <class V>
typename V::Type load_weights(F16, const unsigned char* p) {
  return V::load_f16(reinterpret_cast<const uint16_t*>(p));
}
template <class V>
typename V::Type load_weights(BF16, const unsigned char* p) {
  return V::load_bf16(reinterpret_cast<const uint16_t*>(p));
}

template <class V, class Format, int kRows, int kTokens>
void float_tile(const unsigned char* weights, size_t row_bytes, size_t cols, const float* const* x, float* out, size_t out_stride) {
  constexpr size_t kStep = 2 * V::kLanes, kStepBytes = kStep * Format::kBytes;
  typename V::Type sums[kRows][kTokens][2];
  for (auto& row : sums) {
    for (auto& token : row) token[0] = token[1] = V::zero();
  }
  const auto step = [&](const unsigned char* w, size_t w_stride, size_t c) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto even = load_weights<V>(Format(), w + r * w_stride);
      const auto odd = load_weights<V>(Format(), w + r * w_stride + kStepBytes / 2);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) {
        sums[r][t][0] = V::fma(even, V::load(x[t] + c), sums[r][t][0]);
        sums[r][t][1] = V::fma(odd, V::load(x[t] + c + V::kLanes), sums[r][t][1]);
      }
    }
  };
  size_t c = 0;
  for (; c + kStep <= cols; c += kStep) step(weights + c * Format::kBytes, row_bytes, c);
  if (c < cols) {  // activations are zero-padded to their stride, weights are not
    unsigned char ends[kRows * kStepBytes] = {};
    for (int r = 0; r < kRows; ++r) {
      __builtin_memcpy(ends + r * kStepBytes, weights + r * row_bytes + c * Format::kBytes, (cols - c) * Format::kBytes);
    }
    step(ends, kStepBytes, c);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kTokens; ++t) out[t * out_stride + r] = V::sum(V::add(sums[r][t][0], sums[r][t][1]));
  }
}

// One token goes row after row: two sums keep up with memory, and the processor's prefetcher follows one stream best. With several tokens,
// rows share what is loaded of them.
template <class V, class Format>
void matmul_float(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                  size_t tokens, float* out, size_t out_stride) {
  constexpr size_t kTokens = 4, kRows = V::kTileRows;
  const size_t row_bytes = cols * Format::kBytes;
  const auto token = [&](size_t t) { return x.f32 + (token_index ? token_index[t] : t) * x.stride; };
  for (size_t r = first; r < last;) {
    const unsigned char* w = weights + r * row_bytes;
    float* const y = out + (r - first);
    const size_t rows = tokens >= kTokens && last - r >= kRows ? kRows : 1;
    size_t t = 0;
    for (; t + kTokens <= tokens; t += kTokens) {
      const float* const xs[kTokens] = {token(t), token(t + 1), token(t + 2), token(t + 3)};
      if (rows == kRows) {
        float_tile<V, Format, kRows, kTokens>(w, row_bytes, cols, xs, y + t * out_stride, out_stride);
      } else {
        float_tile<V, Format, 1, kTokens>(w, row_bytes, cols, xs, y + t * out_stride, out_stride);
      }
    }
    for (; t < tokens; ++t) {
      const float* const xs[1] = {token(t)};
      for (size_t i = 0; i < rows; ++i)
        float_tile<V, Format, 1, 1>(w + i * row_bytes, row_bytes, cols, xs, y + t * out_stride + i, out_stride);
    }
    r += rows;
  }
}

}  // namespace
}  // namespace teapot::cpu
