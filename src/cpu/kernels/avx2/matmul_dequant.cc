#include "cpu/kernels/simd/matmul_dequant.h"

#include "cpu/kernels/avx2/entries.h"
#include "cpu/kernels/avx2/vec.h"

namespace teapot::cpu::avx2 {

template <class Format>
void matmul_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                size_t tokens, float* out, size_t out_stride) {
  matmul_dequant<Vec, Format>(weights, cols, first, last, x, token_index, tokens, out, out_stride);
}

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

}  // namespace teapot::cpu::avx2
