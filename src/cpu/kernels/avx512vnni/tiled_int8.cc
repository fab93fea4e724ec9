#include "cpu/kernels/simd/tiled_int8.h"
#include "cpu/kernels/avx512vnni/entries.h"
#include "cpu/kernels/avx512vnni/tiled.h"

namespace teapot::cpu::avx512vnni {

template <class Format>
void tiled_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
              size_t tokens, float* out, size_t out_stride) {
  matmul_tiled_int8<TiledLanes, Format>(weights, cols, first, last, x, token_index, tokens, out, out_stride);
}

template Matmul tiled_q8<Q8_0>;
template Matmul tiled_q8<Q4_0>;
template Matmul tiled_q8<Q4_K>;
template Matmul tiled_q8<Q5_K>;
template Matmul tiled_q8<Q6_K>;
template Matmul tiled_q8<IQ4_XS>;

}  // namespace teapot::cpu::avx512vnni
