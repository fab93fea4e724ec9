#include "cpu/kernels/simd/matmul_float.h"

#include "cpu/kernels/avx2/entries.h"
#include "cpu/kernels/avx2/vec.h"

namespace teapot::cpu::avx2 {

template <class Format>
void matmul_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                size_t tokens, float* out, size_t out_stride) {
  matmul_float<Vec, Format>(weights, cols, first, last, x, token_index, tokens, out, out_stride);
}

template Matmul matmul_f32<F32>;
template Matmul matmul_f32<F16>;
template Matmul matmul_f32<BF16>;

}  // namespace teapot::cpu::avx2
