#include "cpu/kernels/avx2/entries.h"

namespace teapot::cpu {

constexpr KernelTable kAvx2Kernels = {
    .isa = "avx2",
    .matmul_f32 = {avx2::matmul_f32<F32>, avx2::matmul_f32<F16>, avx2::matmul_f32<BF16>, avx2::matmul_f32<Q8_0>, avx2::matmul_f32<Q4_0>,
                   avx2::matmul_f32<Q4_1>, avx2::matmul_f32<Q5_0>, avx2::matmul_f32<Q5_1>, avx2::matmul_f32<Q2_K>, avx2::matmul_f32<Q3_K>,
                   avx2::matmul_f32<Q4_K>, avx2::matmul_f32<Q5_K>, avx2::matmul_f32<Q6_K>, avx2::matmul_f32<IQ4_NL>,
                   avx2::matmul_f32<IQ4_XS>},
    .matmul_q8 = {nullptr, nullptr, nullptr, avx2::matmul_q8<Q8_0>, avx2::matmul_q8<Q4_0>, avx2::matmul_q8<Q4_1>, avx2::matmul_q8<Q5_0>,
                  avx2::matmul_q8<Q5_1>, avx2::matmul_q8<Q2_K>, avx2::matmul_q8<Q3_K>, avx2::matmul_q8<Q4_K>, avx2::matmul_q8<Q5_K>,
                  avx2::matmul_q8<Q6_K>, avx2::matmul_q8<IQ4_NL>, avx2::matmul_q8<IQ4_XS>},
    .tiled_f32 = {avx2::tiled_f32<F32>, avx2::tiled_f32<F16>, avx2::tiled_f32<BF16>, avx2::tiled_f32<Q8_0>, avx2::tiled_f32<Q4_0>, nullptr,
                  nullptr, nullptr, nullptr, nullptr, avx2::tiled_f32<Q4_K>, avx2::tiled_f32<Q5_K>, avx2::tiled_f32<Q6_K>, nullptr,
                  avx2::tiled_f32<IQ4_XS>},
    .tiled_q8 = {nullptr, nullptr, nullptr, avx2::tiled_q8<Q8_0>, avx2::tiled_q8<Q4_0>, nullptr, nullptr, nullptr, nullptr, nullptr,
                 avx2::tiled_q8<Q4_K>, avx2::tiled_q8<Q5_K>, avx2::tiled_q8<Q6_K>, nullptr, avx2::tiled_q8<IQ4_XS>},
    .quantize = avx2::quantize,
    .rms_norm = avx2::rms_norm,
    .l2_norm = avx2::l2_norm,
    .silu_mul = avx2::silu_mul,
    .sigmoid_mul = avx2::sigmoid_mul,
    .silu = avx2::silu,
    .add_scaled = avx2::add_scaled,
    .conv_silu = avx2::conv_silu,
    .gdn_head = avx2::gdn_head,
    .gated_norm = avx2::gated_norm,
    .attend_block = {avx2::attend_f32, avx2::attend_f16, avx2::attend_bf16},
    .attend_join = avx2::attend_join,
    .store_kv = {avx2::store_f32, avx2::store_f16, avx2::store_bf16},
    .argmax = avx2::argmax,
    .sum_exp = avx2::sum_exp,
};

}  // namespace teapot::cpu
