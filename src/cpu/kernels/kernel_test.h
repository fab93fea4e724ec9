// What the kernels' tests share: the tables, random weights and activations.
#pragma once

#include <gtest/gtest.h>
#include <bit>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "cpu/isa.h"
#include "plan/weight.h"

namespace teapot::cpu {

// A test with a kernel table for parameter; tables of instruction sets that this processor lacks skip, and say so.
class KernelTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto selected = select_kernels(GetParam());
    if (!selected && selected.error().kind == ErrorKind::kUnsupported) GTEST_SKIP() << selected.error().message;
    ASSERT_TRUE(selected) << selected.error().message;
    table = *selected;
  }

  const KernelTable* table = nullptr;
  std::mt19937 rng{17};
};

inline std::string isa_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

#define TEAPOT_ALL_ISAS(suite) \
  INSTANTIATE_TEST_SUITE_P(Isas, suite, testing::Values("scalar", "avx2", "avx512", "avx512vnni", "amx"), isa_of)

inline std::vector<float> random_floats(std::mt19937& rng, size_t n, float deviation = 1) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> x(n);
  for (float& value : x) value = normal(rng);
  return x;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Random bytes, with f16 scales of a sensible size and both signs.
inline std::vector<unsigned char> random_weights(std::mt19937& rng, plan::WeightType type, size_t rows, size_t cols) {
  using enum plan::WeightType;
  std::vector<unsigned char> bytes(rows * plan::row_bytes(type, cols));
  const size_t block_bytes = plan::info(type).bytes;
  std::normal_distribution<float> normal;
  const auto put_half = [&](size_t at) {
    const uint16_t bits = f32_to_f16(0.1f * normal(rng));
    std::memcpy(&bytes[at], &bits, 2);
  };
  for (auto& byte : bytes) byte = static_cast<unsigned char>(rng());
  for (size_t at = 0; at < bytes.size(); at += block_bytes) {
    switch (type) {
      case kF32: {
        const float value = normal(rng);
        std::memcpy(&bytes[at], &value, 4);
        break;
      }
      case kBF16: {
        const uint16_t bits = f32_to_bf16(normal(rng));
        std::memcpy(&bytes[at], &bits, 2);
        break;
      }
      case kF16:
      case kQ8_0:
      case kQ4_0:
      case kQ5_0:
      case kIQ4_NL:
      case kIQ4_XS:
        put_half(at);
        break;
      case kQ4_1:
      case kQ5_1:
      case kQ4_K:
      case kQ5_K:
        put_half(at);
        put_half(at + 2);
        break;
      case kQ2_K:
        put_half(at + 80);
        put_half(at + 82);
        break;
      case kQ3_K:
        put_half(at + 108);
        break;
      case kQ6_K:
        put_half(at + 208);
        break;
    }
  }
  return bytes;
}

// Activations with storage: [tokens, stride], zeros beyond cols, rounded to int8 by the scalar table.

struct RandomActivations {
  size_t stride;
  std::vector<float> f32;
  std::vector<int8_t> q8;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<float> totals;

  RandomActivations(std::mt19937& rng, size_t tokens, size_t cols) : stride((cols + 63) / 64 * 64) {
    f32.resize(tokens * stride);
    q8.resize(tokens * stride);
    scales.resize(tokens * stride / kQuantBlock);
    sums.resize(tokens * stride / (kQuantBlock / 2));
    totals.resize(scales.size());
    for (size_t t = 0; t < tokens; ++t) {
      const std::vector<float> x = random_floats(rng, cols);
      std::copy(x.begin(), x.end(), &f32[t * stride]);
      kScalarKernels.quantize(&f32[t * stride], stride, &q8[t * stride], &scales[t * stride / kQuantBlock],
                              &sums[t * stride / (kQuantBlock / 2)]);
    }
    for (size_t b = 0; b < totals.size(); ++b) totals[b] = scales[b] * static_cast<float>(sums[2 * b] + sums[2 * b + 1]);
  }

  Activations view() const { return {f32.data(), q8.data(), scales.data(), sums.data(), stride, totals.data()}; }
  float rounded(size_t token, size_t i) const {
    return scales[(token * stride + i) / kQuantBlock] * static_cast<float>(q8[token * stride + i]);
  }
};

}  // namespace teapot::cpu
