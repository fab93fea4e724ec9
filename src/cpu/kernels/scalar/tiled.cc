#include <cmath>

#include "cpu/kernels/scalar/entries.h"
#include "cpu/kernels/scalar/tiles.h"

namespace teapot::cpu::scalar {
namespace {

size_t token_row(const uint32_t* token_index, size_t t) { return token_index ? token_index[t] : t; }

}  // namespace

template <class Format>
void tiled_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
              size_t tokens, float* out, size_t out_stride) {
  constexpr size_t kHalf = kPanelCols / 2;
  for (size_t r = first; r < last; ++r) {
    const unsigned char* const tile = weights + r / kTileRows * tile_bytes<Format>(cols);
    for (size_t t = 0; t < tokens; ++t) out[t * out_stride + (r - first)] = 0;
    for (size_t p = 0; p < cols / kPanelCols; ++p) {
      RowPanel panel;
      read_panel_at<Format>(tile, cols, p, r % kTileRows, panel);
      for (size_t t = 0; t < tokens; ++t) {
        const size_t at = token_row(token_index, t) * x.stride + p * kPanelCols;
        int32_t dot[2] = {0, 0};
        for (size_t i = 0; i < kPanelCols; ++i) dot[i / kHalf] += panel.q[i] * x.q8[at + i];
        const float scale = x.scales[at / kQuantBlock];
        float& sum = out[t * out_stride + (r - first)];
        if constexpr (Format::kGroup == kHalf) {
          for (size_t half = 0; half < 2; ++half) sum = std::fma(static_cast<float>(dot[half]), panel.scale[half] * scale, sum);
        } else {
          sum = std::fma(static_cast<float>(dot[0] + dot[1]), panel.scale[0] * scale, sum);
        }
        if constexpr (Format::kHasMin) sum = std::fma(-panel.min, x.totals[at / kQuantBlock], sum);
      }
    }
  }
}

template <class Format>
void tiled_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride) {
  for (size_t r = first; r < last; ++r) {
    const unsigned char* const tile = weights + r / kTileRows * tile_bytes<Format>(cols);
    for (size_t t = 0; t < tokens; ++t) {
      const float* const token = x.f32 + token_row(token_index, t) * x.stride;
      float sums[2] = {0, 0};  // even and odd columns
      if constexpr (Format::kElements == 1) {
        for (size_t c = 0; c < (cols + 1) / 2 * 2; ++c)
          sums[c % 2] = std::fma(tile_float(Format(), tile, c, r % kTileRows), token[c], sums[c % 2]);
      } else {
        for (size_t p = 0; p < cols / kPanelCols; ++p) {
          RowPanel panel;
          read_panel_at<Format>(tile, cols, p, r % kTileRows, panel);
          for (size_t i = 0; i < kPanelCols; ++i) {
            const float weight = panel.scale[i / 16] * static_cast<float>(panel.q[i]) - panel.min;
            sums[i % 2] = std::fma(weight, token[p * kPanelCols + i], sums[i % 2]);
          }
        }
      }
      out[t * out_stride + (r - first)] = sums[0] + sums[1];
    }
  }
}

template Matmul tiled_f32<F32>;
template Matmul tiled_f32<F16>;
template Matmul tiled_f32<BF16>;
template Matmul tiled_f32<Q8_0>;
template Matmul tiled_f32<Q4_0>;
template Matmul tiled_f32<Q4_K>;
template Matmul tiled_f32<Q5_K>;
template Matmul tiled_f32<Q6_K>;
template Matmul tiled_f32<IQ4_XS>;
template Matmul tiled_q8<Q8_0>;
template Matmul tiled_q8<Q4_0>;
template Matmul tiled_q8<Q4_K>;
template Matmul tiled_q8<Q5_K>;
template Matmul tiled_q8<Q6_K>;
template Matmul tiled_q8<IQ4_XS>;

}  // namespace teapot::cpu::scalar
