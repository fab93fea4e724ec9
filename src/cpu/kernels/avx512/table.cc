#include "cpu/kernels/avx512/entries.h"

namespace teapot::cpu {

constexpr KernelTable kAvx512Kernels = {
    .isa = "avx512",
    .matmul_f32 = {avx512::matmul_f32<F32>, avx512::matmul_f32<F16>, avx512::matmul_f32<BF16>, avx512::matmul_f32<Q8_0>,
                   avx512::matmul_f32<Q4_0>, avx512::matmul_f32<Q4_1>, avx512::matmul_f32<Q5_0>, avx512::matmul_f32<Q5_1>,
                   avx512::matmul_f32<Q2_K>, avx512::matmul_f32<Q3_K>, avx512::matmul_f32<Q4_K>, avx512::matmul_f32<Q5_K>,
                   avx512::matmul_f32<Q6_K>, avx512::matmul_f32<IQ4_NL>, avx512::matmul_f32<IQ4_XS>},
    .matmul_q8 = {nullptr, nullptr, nullptr, avx512::matmul_q8<Q8_0>, avx512::matmul_q8<Q4_0>, avx512::matmul_q8<Q4_1>,
                  avx512::matmul_q8<Q5_0>, avx512::matmul_q8<Q5_1>, avx512::matmul_q8<Q2_K>, avx512::matmul_q8<Q3_K>,
                  avx512::matmul_q8<Q4_K>, avx512::matmul_q8<Q5_K>, avx512::matmul_q8<Q6_K>, avx512::matmul_q8<IQ4_NL>,
                  avx512::matmul_q8<IQ4_XS>},
    .tiled_f32 = {avx512::tiled_f32<F32>, avx512::tiled_f32<F16>, avx512::tiled_f32<BF16>, avx512::tiled_f32<Q8_0>, avx512::tiled_f32<Q4_0>,
                  nullptr, nullptr, nullptr, nullptr, nullptr, avx512::tiled_f32<Q4_K>, avx512::tiled_f32<Q5_K>, avx512::tiled_f32<Q6_K>,
                  nullptr, avx512::tiled_f32<IQ4_XS>},
    .tiled_q8 = {nullptr, nullptr, nullptr, avx512::tiled_q8<Q8_0>, avx512::tiled_q8<Q4_0>, nullptr, nullptr, nullptr, nullptr, nullptr,
                 avx512::tiled_q8<Q4_K>, avx512::tiled_q8<Q5_K>, avx512::tiled_q8<Q6_K>, nullptr, avx512::tiled_q8<IQ4_XS>},
    .quantize = avx512::quantize,
    .rms_norm = avx512::rms_norm,
    .l2_norm = avx512::l2_norm,
    .silu_mul = avx512::silu_mul,
    .sigmoid_mul = avx512::sigmoid_mul,
    .silu = avx512::silu,
    .add_scaled = avx512::add_scaled,
    .conv_silu = avx512::conv_silu,
    .gdn_head = avx512::gdn_head,
    .gated_norm = avx512::gated_norm,
    .attend_block = {avx512::attend_f32, avx512::attend_f16, avx512::attend_bf16},
    .attend_join = avx512::attend_join,
    .store_kv = {avx512::store_f32, avx512::store_f16, avx512::store_bf16},
    .argmax = avx512::argmax,
    .sum_exp = avx512::sum_exp,
};

}  // namespace teapot::cpu
