#include "cpu/kernels/simd/attend.h"

#include "cpu/kernels/avx512/entries.h"
#include "cpu/kernels/avx512/vec.h"
#include "cpu/kernels/simd/store_kv.h"

namespace teapot::cpu::avx512 {

void attend_f32(const AttendBlock& block, const AttendPart& part) { attend_block_of<Vec, CacheF32<Vec>>(block, part); }
void attend_f16(const AttendBlock& block, const AttendPart& part) { attend_block_of<Vec, CacheF16<Vec>>(block, part); }
void attend_bf16(const AttendBlock& block, const AttendPart& part) { attend_block_of<Vec, CacheBF16<Vec>>(block, part); }

void attend_join(const float* part, float part_max, float part_sum, size_t head_dim, float* out, float* max, float* sum) {
  attend_join_of<Vec>(part, part_max, part_sum, head_dim, out, max, sum);
}

size_t store_f32(const float* x, size_t n, void* out) { return store_f32_of(x, n, out); }

size_t store_f16(const float* x, size_t n, void* out) { return store_f16_of<Vec>(x, n, out); }

size_t store_bf16(const float* x, size_t n, void* out) { return store_bf16_of<Vec>(x, n, out); }

}  // namespace teapot::cpu::avx512
