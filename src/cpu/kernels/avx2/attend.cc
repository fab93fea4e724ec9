#include "cpu/kernels/simd/attend.h"

#include "cpu/kernels/avx2/entries.h"
#include "cpu/kernels/avx2/vec.h"
#include "cpu/kernels/simd/store_kv.h"

namespace teapot::cpu::avx2 {

void attend_f32(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                float* scratch, float* out) {
  attend_of<Vec, CacheF32<Vec>>(q, keys, values, positions, kv_stride, head_dim, scale, scratch, out);
}

void attend_f16(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                float* scratch, float* out) {
  attend_of<Vec, CacheF16<Vec>>(q, keys, values, positions, kv_stride, head_dim, scale, scratch, out);
}

void attend_bf16(const float* q, const void* keys, const void* values, size_t positions, size_t kv_stride, size_t head_dim, float scale,
                 float* scratch, float* out) {
  attend_of<Vec, CacheBF16<Vec>>(q, keys, values, positions, kv_stride, head_dim, scale, scratch, out);
}

size_t store_f32(const float* x, size_t n, void* out) { return store_f32_of(x, n, out); }

size_t store_f16(const float* x, size_t n, void* out) { return store_f16_of<Vec>(x, n, out); }

size_t store_bf16(const float* x, size_t n, void* out) { return store_bf16_of<Vec>(x, n, out); }

}  // namespace teapot::cpu::avx2
