#include "workbench/read_kernels.h"

#include <immintrin.h>

namespace teapot::workbench {
namespace {

constexpr size_t kLine = 64;

uint64_t read_words(const std::byte* data, size_t bytes) {
  const auto* const words = reinterpret_cast<const uint64_t*>(data);
  uint64_t sums[8] = {};
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  uint64_t sum = 0;
  for (const uint64_t s : sums) sum += s;
  return sum;
}

// `ahead`: bytes between what is loaded and what is prefetched, 0: nothing is. Prefetches beyond the end do no harm.
template <size_t ahead>
__attribute__((target("avx2"))) uint64_t read_avx2(const std::byte* data, size_t bytes) {
  __m256i sums[8];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (size_t i = 0; i < bytes; i += 4 * kLine) {
    for (size_t j = 0; j < 8; ++j) {
      const std::byte* const at = data + i + j * kLine / 2;
      if (ahead > 0 && j % 2 == 0) _mm_prefetch(at + ahead, _MM_HINT_T0);
      sums[j] = _mm256_add_epi64(sums[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(at)));
    }
  }
  for (size_t j = 1; j < 8; ++j) sums[0] = _mm256_add_epi64(sums[0], sums[j]);
  alignas(32) uint64_t words[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), sums[0]);
  return words[0] + words[1] + words[2] + words[3];
}

// `streams`: as many equal parts of the memory are read in turn, page by page: each is a stream of its own to the prefetcher.
template <size_t ahead, size_t streams>
__attribute__((target("avx512f"))) uint64_t read_avx512(const std::byte* data, size_t bytes) {
  __m512i sums[8];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  const size_t part = bytes / streams / kReadGrain * kReadGrain;
  const auto add = [&](const std::byte* from, size_t j) __attribute__((always_inline, target("avx512f"))) {
    if (ahead > 0) _mm_prefetch(from + ahead, _MM_HINT_T0);
    sums[j] = _mm512_add_epi64(sums[j], _mm512_load_si512(from));
  };
  size_t i = 0;
  for (; i < part; i += 8 / streams * kLine) {
    for (size_t j = 0; j < 8; ++j) add(data + j % streams * part + i + j / streams * kLine, j);
  }
  for (i = streams * part; i < bytes; i += 8 * kLine) {  // what the parts leave
    for (size_t j = 0; j < 8; ++j) add(data + i + j * kLine, j);
  }
  for (size_t j = 1; j < 8; ++j) sums[0] = _mm512_add_epi64(sums[0], sums[j]);
  alignas(64) uint64_t words[8];
  _mm512_store_si512(words, sums[0]);
  uint64_t sum = 0;
  for (const uint64_t word : words) sum += word;
  return sum;
}

}  // namespace

std::vector<ReadKernel> read_kernels() {
  std::vector<ReadKernel> kernels;
  if (__builtin_cpu_supports("avx512f")) {
    kernels.push_back({"avx512", read_avx512<0, 1>});
    kernels.push_back({"avx512, prefetch 1 KiB ahead", read_avx512<1024, 1>});
    kernels.push_back({"avx512, prefetch 4 KiB ahead", read_avx512<4096, 1>});
    kernels.push_back({"avx512, 2 streams", read_avx512<0, 2>});
    kernels.push_back({"avx512, 4 streams", read_avx512<0, 4>});
    kernels.push_back({"avx512, 4 streams, prefetch 2 KiB ahead", read_avx512<2048, 4>});
  }
  if (__builtin_cpu_supports("avx2")) {
    kernels.push_back({"avx2", read_avx2<0>});
    kernels.push_back({"avx2, prefetch 4 KiB ahead", read_avx2<4096>});
  }
  if (kernels.empty()) kernels.push_back({"64-bit words", read_words});
  return kernels;
}

}  // namespace teapot::workbench
