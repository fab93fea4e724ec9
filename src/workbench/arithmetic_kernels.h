// The most multiplications a core can do, per kind of instruction: operands stay in registers, accumulators hide the latency.
#pragma once

#include <cstdint>
#include <vector>

namespace teapot::workbench {

enum class Arithmetic : uint8_t { kInt8, kInt8Tiles, kF32 };

struct ArithmeticKernel {
  const char* name;
  Arithmetic kind;
  const char* isa;  // the kernel table (cpu/isa.h) that computes with it
  uint32_t macs;    // multiply-accumulates of one iteration
  // Returns something of the sums, so that nothing is left out.
  uint64_t (*run)(uint64_t iterations);
};

// Those that this processor has and the system lets the process use: asking is what this does, for tile registers.
std::vector<ArithmeticKernel> arithmetic_kernels();

}  // namespace teapot::workbench
