// For tests that run on every instruction set of the host with several types of weights.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "cpu/isa.h"
#include "plan/weight.h"

namespace teapot::cpu {

// An instruction set that the host lacks is skipped, by name.
class EveryKernel : public testing::TestWithParam<std::tuple<const char*, plan::WeightType>> {
 protected:
  void SetUp() override {
    if (const auto kernels = select_kernels(isa()); !kernels) GTEST_SKIP() << kernels.error().message;
  }
  static const char* isa() { return std::get<0>(GetParam()); }
  static plan::WeightType type() { return std::get<1>(GetParam()); }
};

// "avx2_Q4_K".
inline std::string kernel_name(const testing::TestParamInfo<EveryKernel::ParamType>& info) {
  return fmt::format("{}_{}", std::get<0>(info.param), plan::info(std::get<1>(info.param)).name);
}

inline auto all_instruction_sets() { return testing::Values("scalar", "avx2", "avx512", "avx512vnni", "amx"); }

}  // namespace teapot::cpu
