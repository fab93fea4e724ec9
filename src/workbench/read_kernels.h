// Ways of reading memory as fast as it goes: which of them is the fastest differs from processor to processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teapot::workbench {

constexpr size_t kReadGrain = 4096;  // bytes that a kernel reads at a time, at least: a page

struct ReadKernel {
  const char* name;
  // Reads `bytes` (a multiple of kReadGrain) at `data` (aligned to a cache line), all of it once. Returns a sum, so that nothing is left
  // out.
  uint64_t (*read)(const std::byte* data, size_t bytes);
};

// Those that this processor has, at least one.
std::vector<ReadKernel> read_kernels();

}  // namespace teapot::workbench
