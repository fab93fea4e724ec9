#include "cpu/kernels/simd/tiled_f32.h"
#include "cpu/kernels/avx512/entries.h"
#include "cpu/kernels/avx512/tiled.h"

namespace teapot::cpu::avx512 {

template <class Format>
void tiled_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride) {
  matmul_tiled_f32<TiledLanes, Format>(weights, cols, first, last, x, token_index, tokens, out, out_stride);
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

}  // namespace teapot::cpu::avx512
