// What the scalar table consists of.
#pragma once

#include "cpu/kernels/formats.h"
#include "cpu/kernels/kernels.h"

namespace teapot::cpu::scalar {

// Defined for every format, matmul_q8 for the quantised ones.
template <class Format>
void matmul_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                size_t tokens, float* out, size_t out_stride);
template <class Format>
void matmul_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride);

// The same of matrices in tiles: every format that has them.
template <class Format>
void tiled_f32(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
               size_t tokens, float* out, size_t out_stride);
template <class Format>
void tiled_q8(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
              size_t tokens, float* out, size_t out_stride);

void quantize(const float* x, size_t cols, int8_t* q, float* scales, int32_t* sums);
void rms_norm(const float* x, const float* w, float eps, size_t n, float* y);
void l2_norm(const float* x, float eps, float scale, size_t n, float* y);
void silu_mul(const float* gate, const float* up, size_t n, float* y);
void sigmoid_mul(const float* x, const float* gate, size_t n, float* y);
void silu(const float* x, size_t n, float* y);
void add_scaled(const float* x, float scale, size_t n, float* y);
void conv_silu(const float* const* rows, const float* w, size_t kernel, size_t channels, float* out);
void gdn_head(const GdnHead& head, float* state, float* out);
void gated_norm(const float* o, const float* z, const float* w, float eps, size_t n, float* y);
void attend_f32(const AttendBlock& block, const AttendPart& part);
void attend_f16(const AttendBlock& block, const AttendPart& part);
void attend_bf16(const AttendBlock& block, const AttendPart& part);
void attend_join(const float* part, float part_max, float part_sum, size_t head_dim, float* out, float* max, float* sum);
size_t store_f32(const float* x, size_t n, void* out);
size_t store_f16(const float* x, size_t n, void* out);
size_t store_bf16(const float* x, size_t n, void* out);
int32_t argmax(const float* x, size_t n);
float sum_exp(const float* x, float shift, size_t n);

}  // namespace teapot::cpu::scalar
