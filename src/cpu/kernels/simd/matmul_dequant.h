// Quantised rows x f32 activations, for the vector tables: the reference path. 256 weights become f32 once for up to 16 tokens.
//
// Order of a (row, token): even and odd vectors of the row in two sums, the sums added, the lanes added.
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/simd/unpack.h"

namespace teapot::cpu {
namespace {

// The weights of up to eight blocks of 32, or one of 256; zeros up to 256.
template <class Format>
void dequantize_group(const unsigned char* p, size_t blocks, float* w) {
  __m256i levels[8];
  Scales<Format> scales;
  unpack_levels<false, Pieces256>(Format(), p, blocks, levels);
  unpack_scales<false, Pieces256>(Format(), p, blocks, scales);
  alignas(32) uint8_t bytes[kGroupWeights];
  alignas(32) float scale[kGroupWeights / Format::kGroup];
  alignas(32) float min[kGroupWeights / Format::kGroup] = {};
  for (size_t j = 0; j < 8; ++j) _mm256_store_si256(reinterpret_cast<__m256i*>(bytes + 32 * j), levels[j]);
  for (size_t j = 0; j < Scales<Format>::kRegisters; ++j) {
    _mm256_store_ps(scale + 8 * j, scales.scale[j]);
    if constexpr (Format::kHasMin) _mm256_store_ps(min + 8 * j, scales.min[j]);
  }
  for (size_t i = 0; i < kGroupWeights; i += 8) {
    const __m256i level = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i)));
    const __m256 q = _mm256_cvtepi32_ps(_mm256_sub_epi32(level, _mm256_set1_epi32(Format::kOffset)));
    const __m256 scaled = _mm256_mul_ps(_mm256_set1_ps(scale[i / Format::kGroup]), q);
    _mm256_storeu_ps(w + i, _mm256_sub_ps(scaled, _mm256_set1_ps(min[i / Format::kGroup])));
  }
}

template <class V, class Format>
void matmul_dequant(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                    size_t tokens, float* out, size_t out_stride) {
  constexpr size_t kTile = 16, kStep = 2 * V::kLanes;
  static_assert(Format::kElements % kStep == 0);
  const size_t row_bytes = cols / Format::kElements * Format::kBytes;
  for (size_t r = first; r < last; ++r) {
    const unsigned char* row = weights + r * row_bytes;
    for (size_t begin = 0; begin < tokens; begin += kTile) {
      const size_t count = tokens - begin < kTile ? tokens - begin : kTile;
      typename V::Type sums[kTile][2];
      for (size_t t = 0; t < count; ++t) sums[t][0] = sums[t][1] = V::zero();
      for (size_t c = 0; c < cols; c += kGroupWeights) {
        const size_t width = cols - c < kGroupWeights ? cols - c : kGroupWeights;
        alignas(64) float w[kGroupWeights];
        dequantize_group<Format>(row + c / Format::kElements * Format::kBytes, width / Format::kElements, w);
        for (size_t t = 0; t < count; ++t) {
          const float* xs = x.f32 + (token_index ? token_index[begin + t] : begin + t) * x.stride + c;
          auto even = sums[t][0], odd = sums[t][1];
          for (size_t i = 0; i < width; i += kStep) {
            even = V::fma(V::load(w + i), V::load(xs + i), even);
            odd = V::fma(V::load(w + i + V::kLanes), V::load(xs + i + V::kLanes), odd);
          }
          sums[t][0] = even;
          sums[t][1] = odd;
        }
      }
      for (size_t t = 0; t < count; ++t) out[(begin + t) * out_stride + (r - first)] = V::sum(V::add(sums[t][0], sums[t][1]));
    }
  }
}

}  // namespace
}  // namespace teapot::cpu
