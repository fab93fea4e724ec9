#include <algorithm>

#include "cpu/kernels/scalar/entries.h"
#include "cpu/kernels/scalar/formats.h"

namespace teapot::cpu::scalar {
namespace {

constexpr size_t kTile = 8;    // tokens that share one decoding of a block
constexpr size_t kChunk = 64;  // columns of a float row at once
constexpr size_t kLanes = 16;  // partial sums of a dot product, so that its rounding error grows with cols / 16

size_t token_row(const uint32_t* token_index, size_t t) { return token_index ? token_index[t] : t; }

float sum_of(const float (&lanes)[kLanes]) {
  float pairs[kLanes];
  std::copy(lanes, lanes + kLanes, pairs);
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) pairs[i] += pairs[i + width];
  }
  return pairs[0];
}

}  // namespace

template <class Format>
void matmul_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                size_t tokens, float* out, size_t out_stride) {
  constexpr size_t kStep = Format::kElements == 1 ? kChunk : Format::kElements;
  const size_t row_bytes = cols / Format::kElements * Format::kBytes;
  for (size_t r = first; r < last; ++r) {
    const unsigned char* row = weights + r * row_bytes;
    for (size_t begin = 0; begin < tokens; begin += kTile) {
      const size_t end = std::min(tokens, begin + kTile);
      float sums[kTile][kLanes] = {};
      for (size_t c = 0; c < cols; c += kStep) {
        const size_t count = std::min(kStep, cols - c);
        float w[kStep];
        dequantize<Format>(row, c, count, w);
        for (size_t t = begin; t < end; ++t) {
          const float* xs = x.f32 + token_row(token_index, t) * x.stride + c;
          for (size_t i = 0; i < count; ++i) sums[t - begin][i % kLanes] += w[i] * xs[i];
        }
      }
      for (size_t t = begin; t < end; ++t) out[t * out_stride + (r - first)] = sum_of(sums[t - begin]);
    }
  }
}

// The integer dot of a group is exact; its value enters the sum in one multiplication and one addition, group after group.
template <class Format>
void matmul_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride) {
  const size_t blocks = cols / Format::kElements;
  for (size_t r = first; r < last; ++r) {
    const unsigned char* row = weights + r * blocks * Format::kBytes;
    for (size_t begin = 0; begin < tokens; begin += kTile) {
      const size_t end = std::min(tokens, begin + kTile);
      float sums[kTile] = {};
      for (size_t b = 0; b < blocks; ++b) {
        Levels levels;
        decode(Format(), row + b * Format::kBytes, levels);
        for (size_t t = begin; t < end; ++t) {
          const size_t at = token_row(token_index, t) * x.stride + b * Format::kElements;
          for (size_t i = 0; i < Format::kElements; i += Format::kGroup) {
            const size_t group = i / Format::kGroup;
            int32_t dot = 0, sum = 0;
            for (size_t l = 0; l < Format::kGroup; ++l) dot += levels.q[i + l] * x.q8[at + i + l];
            for (size_t l = 0; l < Format::kGroup; l += kQuantBlock / 2) sum += x.sums[(at + i + l) / (kQuantBlock / 2)];
            const float a = x.scales[(at + i) / kQuantBlock];
            sums[t - begin] += levels.scale[group] * a * static_cast<float>(dot) - levels.min[group] * (a * static_cast<float>(sum));
          }
        }
      }
      for (size_t t = begin; t < end; ++t) out[t * out_stride + (r - first)] = sums[t - begin];
    }
  }
}

template Matmul matmul_f32<F32>;
template Matmul matmul_f32<F16>;
template Matmul matmul_f32<BF16>;
template Matmul matmul_f32<Q8_0>;
template Matmul matmul_f32<Q4_0>;
template Matmul matmul_f32<Q4_1>;
template Matmul matmul_f32<Q5_0>;
template Matmul matmul_f32<Q5_1>;
template Matmul matmul_f32<Q2_K>;
template Matmul matmul_f32<Q3_K>;
template Matmul matmul_f32<Q4_K>;
template Matmul matmul_f32<Q5_K>;
template Matmul matmul_f32<Q6_K>;
template Matmul matmul_f32<IQ4_NL>;
template Matmul matmul_f32<IQ4_XS>;
template Matmul matmul_q8<Q8_0>;
template Matmul matmul_q8<Q4_0>;
template Matmul matmul_q8<Q4_1>;
template Matmul matmul_q8<Q5_0>;
template Matmul matmul_q8<Q5_1>;
template Matmul matmul_q8<Q2_K>;
template Matmul matmul_q8<Q3_K>;
template Matmul matmul_q8<Q4_K>;
template Matmul matmul_q8<Q5_K>;
template Matmul matmul_q8<Q6_K>;
template Matmul matmul_q8<IQ4_NL>;
template Matmul matmul_q8<IQ4_XS>;

}  // namespace teapot::cpu::scalar
