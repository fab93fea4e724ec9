#include "cpu/kernels/scalar/entries.h"

namespace teapot::cpu {

constexpr KernelTable kScalarKernels = {
    .isa = "scalar",
    .matmul_f32 = {scalar::matmul_f32<F32>, scalar::matmul_f32<F16>, scalar::matmul_f32<BF16>, scalar::matmul_f32<Q8_0>,
                   scalar::matmul_f32<Q4_0>, scalar::matmul_f32<Q4_1>, scalar::matmul_f32<Q5_0>, scalar::matmul_f32<Q5_1>,
                   scalar::matmul_f32<Q2_K>, scalar::matmul_f32<Q3_K>, scalar::matmul_f32<Q4_K>, scalar::matmul_f32<Q5_K>,
                   scalar::matmul_f32<Q6_K>, scalar::matmul_f32<IQ4_NL>, scalar::matmul_f32<IQ4_XS>},
    .matmul_q8 = {nullptr, nullptr, nullptr, scalar::matmul_q8<Q8_0>, scalar::matmul_q8<Q4_0>, scalar::matmul_q8<Q4_1>,
                  scalar::matmul_q8<Q5_0>, scalar::matmul_q8<Q5_1>, scalar::matmul_q8<Q2_K>, scalar::matmul_q8<Q3_K>,
                  scalar::matmul_q8<Q4_K>, scalar::matmul_q8<Q5_K>, scalar::matmul_q8<Q6_K>, scalar::matmul_q8<IQ4_NL>,
                  scalar::matmul_q8<IQ4_XS>},
    .tiled_f32 = {scalar::tiled_f32<F32>, scalar::tiled_f32<F16>, scalar::tiled_f32<BF16>, scalar::tiled_f32<Q8_0>, scalar::tiled_f32<Q4_0>,
                  nullptr, nullptr, nullptr, nullptr, nullptr, scalar::tiled_f32<Q4_K>, scalar::tiled_f32<Q5_K>, scalar::tiled_f32<Q6_K>,
                  nullptr, scalar::tiled_f32<IQ4_XS>},
    .tiled_q8 = {nullptr, nullptr, nullptr, scalar::tiled_q8<Q8_0>, scalar::tiled_q8<Q4_0>, nullptr, nullptr, nullptr, nullptr, nullptr,
                 scalar::tiled_q8<Q4_K>, scalar::tiled_q8<Q5_K>, scalar::tiled_q8<Q6_K>, nullptr, scalar::tiled_q8<IQ4_XS>},
    .quantize = scalar::quantize,
    .rms_norm = scalar::rms_norm,
    .l2_norm = scalar::l2_norm,
    .silu_mul = scalar::silu_mul,
    .sigmoid_mul = scalar::sigmoid_mul,
    .silu = scalar::silu,
    .add_scaled = scalar::add_scaled,
    .conv_silu = scalar::conv_silu,
    .gdn_head = scalar::gdn_head,
    .gated_norm = scalar::gated_norm,
    .attend_block = {scalar::attend_f32, scalar::attend_f16, scalar::attend_bf16},
    .attend_join = scalar::attend_join,
    .store_kv = {scalar::store_f32, scalar::store_f16, scalar::store_bf16},
    .argmax = scalar::argmax,
    .sum_exp = scalar::sum_exp,
};

}  // namespace teapot::cpu
