// The kernel table: one entry for each thing that is worth an instruction set, filled by kernels/scalar, avx2, avx512, avx512vnni,
// amx.
//
// Promise of every entry: the result for one (row, token) depends on that row and that token only, with one fixed order of operations.
// Calls with n tokens give the same bits as n calls with one; a range of rows gives the same bits as its parts. Tables of different
// instruction sets may differ in the last bits. This header includes nothing with inline code: see cmake/floors.cmake.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace teapot::cpu {

constexpr size_t kQuantBlock = 32;         // activations are rounded to int8 in blocks of so many, each with its own scale
constexpr size_t kKvBlock = 256;           // positions per attention partial (design section 4)
constexpr size_t kKernelWeightTypes = 15;  // plan::kWeightTypes, checked where the tables are chosen

enum KvType : int { kKvF32, kKvF16, kKvBF16 };

// Rows of activations, in the forms that matmuls read. Row t begins at t * stride elements; strides are multiples of 64.
struct Activations {
  const float* f32;     // [tokens, stride], zero-padded to the stride
  const int8_t* q8;     // [tokens, stride] or null
  const float* scales;  // [tokens, stride / 32]: x = scale * q
  const int32_t* sums;  // [tokens, stride / 16]: sum of q over each half block (16), for formats with an offset or a minimum
  size_t stride;
  const float* totals = nullptr;  // [tokens, stride / 32]: scale * sum of q over the block; with q8
};

// y[token, row] = W[row] . x[token] for rows [first, last) of a packed matrix and `tokens` rows of activations.
// weights: row-major blocks of the type, row r at weights + r * row_bytes(type, cols). out[t * out_stride + (row - first)].
// token_index: activations of output t are row token_index[t] (null: t itself), so that an expert reads its tokens in place.
using Matmul = void(const unsigned char* weights, size_t cols, size_t first, size_t last, const Activations& x, const uint32_t* token_index,
                    size_t tokens, float* out, size_t out_stride);
using MatmulFn = Matmul*;

constexpr size_t kGdnStrip = 32;  // columns of a recurrent state that go through all tokens together

// Tokens that a head's state can be moved over again, by the operations and so to the bits of gdn_head.
struct GdnLog {
  const float *k = nullptr, *delta = nullptr, *alpha = nullptr;  // [tokens, dk], [tokens, dv], [tokens]
  size_t stride = 0;                                             // floats from token to token, of all three
  size_t tokens = 0;
};

// One head of the recurrence for one token after the other (spec 3.5 step 7); strides are in floats from token to token.
// q is scaled, q and k are normalised; alpha, beta: one a token. state [dk, dv] in place. out: [tokens, dv].
struct GdnHead {
  const float *q = nullptr, *k = nullptr, *v = nullptr, *alpha = nullptr, *beta = nullptr;
  size_t q_stride = 0, k_stride = 0, v_stride = 0, gate_stride = 0, out_stride = 0;
  size_t dk = 0, dv = 0, tokens = 0;
  const float* next = nullptr;       // the state that this thread will want after this one: fetched meanwhile; null: none
  GdnLog pending = {};               // moves the state, before the tokens do
  uint64_t* replay_ticks = nullptr;  // grows by the time stamps that `pending` took, first reads of the state included; null: not asked

  // Of tokens that may not hold: the state stays before them, `delta` [tokens, dv] is what a log needs. Null: the state moves.
  float* delta = nullptr;
  size_t delta_stride = 0;
  float* strip = nullptr;  // [dk, kGdnStrip] scratch, with delta
};

// The query heads of one row that read one KV head, and up to kKvBlock of its positions; position p lies at p * kv_stride elements.
struct AttendBlock {
  const float* q;  // [heads, head_dim]
  size_t heads, head_dim;
  const void *keys, *values;
  size_t count;  // positions, at least 1
  size_t kv_stride;
  float scale;
  float* scratch;  // kAttendHeads * kKvBlock floats
};

struct AttendPart {
  float *max, *sum;  // [heads]
  float* out;        // [heads, head_dim]
};

constexpr size_t kAttendHeads = 8;  // that share a load of a key or value, at most

struct KernelTable {
  const char* isa;

  // Weights dequantised on the fly, activations f32: the reference path, and the only one of F32, F16, BF16. All types.
  MatmulFn matmul_f32[kKernelWeightTypes];
  // Weights x int8 activations; null where the type has no such kernel.
  MatmulFn matmul_q8[kKernelWeightTypes];

  // The same, of matrices in tiles (tiles.h); null where the type has no such layout. The order of a (row, token) is one for all tables.
  // q8: panel after panel, in Q6_K half after half of it: the sum becomes fma(dot, scale * the token's scale, sum) with the exact integer
  // dot of levels less the offset, then, where the format has minima, fma(-minimum, total, sum). f32: even columns by fma into one sum, odd
  // ones into another, their sum; weights are scale * level - minimum, both rounded.
  MatmulFn tiled_f32[kKernelWeightTypes];
  MatmulFn tiled_q8[kKernelWeightTypes];

  // One row to int8, blocks of 32: scale = max|x| / 127, q = round to nearest even (x / scale); sums over 16. cols: multiple of 32.
  // A block with an infinity or NaN gets scale NaN and q 0, so that the products say so.
  void (*quantize)(const float* x, size_t cols, int8_t* q, float* scales, int32_t* sums);

  // y = x * rsqrt(mean x^2 + eps) * w.
  void (*rms_norm)(const float* x, const float* w, float eps, size_t n, float* y);
  // y = x * scale * rsqrt(sum x^2 + eps) (spec 3.5 step 4).
  void (*l2_norm)(const float* x, float eps, float scale, size_t n, float* y);
  // y = silu(gate) * up.
  void (*silu_mul)(const float* gate, const float* up, size_t n, float* y);
  // y = x * sigmoid(gate).
  void (*sigmoid_mul)(const float* x, const float* gate, size_t n, float* y);
  // y = silu(x).
  void (*silu)(const float* x, size_t n, float* y);
  // y += scale * x.
  void (*add_scaled)(const float* x, float scale, size_t n, float* y);
  // One token of the causal depthwise convolution and its silu: out[c] = silu(sum_i w[i][c] * rows[i][c]), i from the oldest.
  void (*conv_silu)(const float* const* rows, const float* w, size_t kernel, size_t channels, float* out);
  void (*gdn_head)(const GdnHead& head, float* state, float* out);
  // y = rms_norm(o, w) * silu(z): norm before gate (spec 3.5 step 8).
  void (*gated_norm)(const float* o, const float* z, const float* w, float eps, size_t n, float* y);

  // Attention of the query heads that share a KV head over one block of its positions, by KvType: for each head the largest score, the sum
  // of e^(score - largest), and the values weighted with it. A head's result does not depend on how many there are beside it, but for the
  // order of the sum, which their number fixes.
  void (*attend_block[3])(const AttendBlock& block, const AttendPart& part);
  // Adds a later partial result of a head to those before it. out: [head_dim].
  void (*attend_join)(const float* part, float part_max, float part_sum, size_t head_dim, float* out, float* max, float* sum);
  // f32 -> cache element, by KvType, to nearest even; f16 saturates at 65504 and returns how many did. NaN stays NaN.
  size_t (*store_kv[3])(const float* x, size_t n, void* out);

  // First index of the largest value; -1 if any is NaN or n is 0.
  int32_t (*argmax)(const float* x, size_t n);
  // Sum of e^(x - shift).
  float (*sum_exp)(const float* x, float shift, size_t n);
};

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
extern const KernelTable kAvx512VnniKernels;
extern const KernelTable kAmxKernels;

}  // namespace teapot::cpu
