#include "workbench/arithmetic_kernels.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace teapot::workbench {
namespace {

// More than latency x ports of any product so far (4 x 2, 5 x 2), and they all fit in registers.
constexpr size_t kAccumulators = 12;

// The compiler must not know the operands.
template <class T>
void forget(T& value) {
  asm volatile("" : "+m"(value));
}

template <class Vector>
uint64_t first_word(const Vector (&sums)[kAccumulators]) {
  uint64_t result = 0;
  for (const Vector& sum : sums) {
    uint64_t word;
    __builtin_memcpy(&word, &sum, sizeof(word));
    result += word;
  }
  return result;
}

uint64_t int8_scalar(uint64_t iterations) {
  int32_t sums[kAccumulators] = {};
  int8_t a = 3;
  forget(a);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (int32_t& sum : sums) {
      sum += a * static_cast<int8_t>(sum);
    }
  }
  uint64_t result = 0;
  for (const int32_t sum : sums) result += static_cast<uint64_t>(sum);
  return result;
}

uint64_t f32_scalar(uint64_t iterations) {
  float sums[kAccumulators] = {};
  float a = 0.5f, b = 1;
  forget(a);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (float& sum : sums) sum = sum * a + b;
  }
  uint64_t result = 0;
  for (const float sum : sums) result += static_cast<uint64_t>(sum);
  return result;
}

// Exact sums need the widening by madd: maddubs alone saturates.
__attribute__((target("avx2"))) uint64_t int8_avx2(uint64_t iterations) {
  __m256i sums[kAccumulators];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(5);
  const __m256i ones = _mm256_set1_epi16(1);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (__m256i& sum : sums) {
      asm("" : "+x"(a));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
    }
  }
  return first_word(sums);
}

__attribute__((target("avx512f,avx512bw"))) uint64_t int8_avx512(uint64_t iterations) {
  __m512i sums[kAccumulators];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
  const __m512i ones = _mm512_set1_epi16(1);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (__m512i& sum : sums) {
      asm("" : "+v"(a));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones));
    }
  }
  return first_word(sums);
}

__attribute__((target("avx512f,avx512vnni"))) uint64_t int8_vnni(uint64_t iterations) {
  __m512i sums[kAccumulators];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
  forget(a);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
  }
  return first_word(sums);
}

__attribute__((target("avx2,fma"))) uint64_t f32_avx2(uint64_t iterations) {
  __m256 sums[kAccumulators];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1);
  forget(a);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  }
  return first_word(sums);
}

__attribute__((target("avx512f"))) uint64_t f32_avx512(uint64_t iterations) {
  __m512 sums[kAccumulators];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1);
  forget(a);
  forget(b);
  for (uint64_t i = 0; i < iterations; ++i) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  }
  return first_word(sums);
}

// Palette 1: eight tiles of 16 rows x 64 bytes. Four are sums, two are rows of activations and two of weights, as a 32 x 32 block wants.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr uint32_t kTileMacs = 16 * 16 * 64;

__attribute__((target("amx-tile,amx-int8"))) uint64_t int8_amx(uint64_t iterations) {
  const TileShapes shapes;
  alignas(64) static const uint8_t operand[16 * 64] = {1, 2, 3};
  alignas(64) int32_t sums[16 * 16];
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, operand, 64);
  _tile_loadd(5, operand, 64);
  _tile_loadd(6, operand, 64);
  _tile_loadd(7, operand, 64);
  for (uint64_t i = 0; i < iterations; ++i) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  _tile_stored(0, sums, 64);
  _tile_release();
  return static_cast<uint64_t>(sums[0]);
}

// Linux gives a process the tile registers when it asks for them.
bool tiles_allowed() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // asm/prctl.h: ARCH_REQ_XCOMP_PERM; XFEATURE_XTILEDATA
  return __builtin_cpu_supports("amx-int8") && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

std::vector<ArithmeticKernel> arithmetic_kernels() {
  std::vector<ArithmeticKernel> kernels;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  if (tiles_allowed()) kernels.push_back({"amx tdpbusd", Arithmetic::kInt8Tiles, "amx", 4 * kTileMacs, int8_amx});
  if (avx512 && __builtin_cpu_supports("avx512vnni")) {
    kernels.push_back({"avx512 vpdpbusd", Arithmetic::kInt8, "avx512vnni", kAccumulators * 64, int8_vnni});
  }
  if (avx512) kernels.push_back({"avx512 vpmaddubsw", Arithmetic::kInt8, "avx512", kAccumulators * 64, int8_avx512});
  if (avx2) kernels.push_back({"avx2 vpmaddubsw", Arithmetic::kInt8, "avx2", kAccumulators * 32, int8_avx2});
  if (!avx2) kernels.push_back({"scalar", Arithmetic::kInt8, "scalar", kAccumulators, int8_scalar});
  if (avx512) kernels.push_back({"avx512 vfmadd", Arithmetic::kF32, "avx512", kAccumulators * 16, f32_avx512});
  if (avx2) kernels.push_back({"avx2 vfmadd", Arithmetic::kF32, "avx2", kAccumulators * 8, f32_avx2});
  if (!avx2) kernels.push_back({"scalar", Arithmetic::kF32, "scalar", kAccumulators, f32_scalar});
  return kernels;
}

}  // namespace teapot::workbench
