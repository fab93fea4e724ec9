#include <algorithm>
#include <cmath>
#include <span>

#include "cpu/kernels/kernel_test.h"
#include "plan/dequantize.h"

namespace teapot::cpu {
namespace {

using plan::WeightType;

constexpr size_t kFloatCols[] = {1, 7, 32, 96, 100, 160, 256, 513};
constexpr size_t kBlock32Cols[] = {32, 64, 96, 160, 224, 256, 288, 512, 1056};
constexpr size_t kBlock256Cols[] = {256, 512, 768, 1280};

std::span<const size_t> cols_of(WeightType type) {
  switch (plan::info(type).elements) {
    case 1:
      return kFloatCols;
    case 32:
      return kBlock32Cols;
    default:
      return kBlock256Cols;
  }
}

enum class Path { kF32, kQ8 };

class MatmulTest : public KernelTest {
 protected:
  MatmulFn kernel(Path path, size_t type) const { return (path == Path::kF32 ? table->matmul_f32 : table->matmul_q8)[type]; }

  // Every kernel that the table has, with each width that its tails distinguish.
  template <class Body>
  void for_each_kernel(Body body) {
    for (const Path path : {Path::kF32, Path::kQ8}) {
      for (size_t i = 0; i < plan::kWeightTypes; ++i) {
        const MatmulFn matmul = kernel(path, i);
        const auto type = static_cast<WeightType>(i);
        if (!matmul) {
          EXPECT_TRUE(path == Path::kQ8 && plan::info(type).elements == 1) << plan::info(type).name;
          continue;
        }
        for (const size_t cols : cols_of(type)) {
          SCOPED_TRACE(std::string(plan::info(type).name) + (path == Path::kF32 ? " f32 " : " int8 ") + std::to_string(cols));
          body(path, type, matmul, cols);
        }
      }
    }
  }

  // Largest error of outputs [token, row] against double, relative to the norms of the two vectors.
  static double error(Path path, WeightType type, const std::vector<unsigned char>& weights, size_t cols, size_t first, size_t last,
                      const RandomActivations& x, const std::vector<uint32_t>& tokens, const std::vector<float>& out) {
    double worst = 0;
    std::vector<float> w(cols);
    for (size_t r = first; r < last; ++r) {
      plan::dequantize_row(type, reinterpret_cast<const std::byte*>(&weights[r * plan::row_bytes(type, cols)]), cols, w.data());
      for (size_t t = 0; t < tokens.size(); ++t) {
        double dot = 0, ww = 0, xx = 0;
        for (size_t c = 0; c < cols; ++c) {
          const double value = path == Path::kF32 ? x.f32[tokens[t] * x.stride + c] : x.rounded(tokens[t], c);
          dot += w[c] * value;
          ww += static_cast<double>(w[c]) * w[c];
          xx += value * value;
        }
        const double off = std::fabs(out[t * (last - first) + r - first] - dot) / (std::sqrt(ww * xx) + 1e-30);
        worst = std::isnan(off) ? INFINITY : std::max(worst, off);
      }
    }
    return worst;
  }
};

TEST_P(MatmulTest, IsTheProductInDouble) {
  constexpr size_t kRows = 7, kTokens = 3;
  for_each_kernel([&](Path path, WeightType type, MatmulFn matmul, size_t cols) {
    const auto weights = random_weights(rng, type, kRows, cols);
    const RandomActivations x(rng, kTokens, cols);
    std::vector<float> out(kTokens * kRows);
    matmul(weights.data(), cols, 0, kRows, x.view(), nullptr, kTokens, out.data(), kRows);
    EXPECT_LT(error(path, type, weights, cols, 0, kRows, x, {0, 1, 2}, out), 3e-7);
  });
}

// What batching, chunked prefill and tiling rest on.
TEST_P(MatmulTest, ManyTokensEqualOneByOneBitForBit) {
  constexpr size_t kRows = 6, kTokens = 19;
  for_each_kernel([&](Path, WeightType type, MatmulFn matmul, size_t cols) {
    const auto weights = random_weights(rng, type, kRows, cols);
    const RandomActivations x(rng, kTokens, cols);
    std::vector<float> apart(kTokens * kRows);
    for (uint32_t t = 0; t < kTokens; ++t) {
      for (size_t r = 0; r < kRows; ++r) matmul(weights.data(), cols, r, r + 1, x.view(), &t, 1, &apart[t * kRows + r], 1);
    }
    for (const size_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 19}) {
      std::vector<float> together(tokens * kRows);
      matmul(weights.data(), cols, 0, kRows, x.view(), nullptr, tokens, together.data(), kRows);
      EXPECT_EQ(0, std::memcmp(together.data(), apart.data(), together.size() * sizeof(float))) << tokens << " tokens";
    }
  });
}

TEST_P(MatmulTest, RangesOfRowsAndChosenTokensEqualTheWhole) {
  constexpr size_t kRows = 9, kTokens = 5;
  const std::vector<uint32_t> chosen = {4, 0, 3, 3};
  for_each_kernel([&](Path, WeightType type, MatmulFn matmul, size_t cols) {
    const auto weights = random_weights(rng, type, kRows, cols);
    const RandomActivations x(rng, kTokens, cols);
    std::vector<float> whole(kTokens * kRows);
    matmul(weights.data(), cols, 0, kRows, x.view(), nullptr, kTokens, whole.data(), kRows);
    for (size_t first = 0; first < kRows; ++first) {
      for (size_t last = first; last <= kRows; ++last) {
        constexpr size_t kOutStride = kRows + 3;
        std::vector<float> part(chosen.size() * kOutStride, 12345.0f), expected = part;
        for (size_t t = 0; t < chosen.size(); ++t) {
          std::copy_n(&whole[chosen[t] * kRows + first], last - first, &expected[t * kOutStride]);
        }
        matmul(weights.data(), cols, first, last, x.view(), chosen.data(), chosen.size(), part.data(), kOutStride);
        EXPECT_TRUE(same_bits(part, expected)) << first << ".." << last;
      }
    }
  });
}

// Longer than what is prepared once for all rows.
TEST_P(MatmulTest, LongRows) {
  constexpr size_t kCols = 66 * 256, kRows = 3, kTokens = 3;
  for (size_t i = 0; i < plan::kWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    const Path path = plan::info(type).elements > 1 ? Path::kQ8 : Path::kF32;
    SCOPED_TRACE(plan::info(type).name);
    const auto weights = random_weights(rng, type, kRows, kCols);
    const RandomActivations x(rng, kTokens, kCols);
    std::vector<float> together(kTokens * kRows), apart(kTokens * kRows);
    kernel(path, i)(weights.data(), kCols, 0, kRows, x.view(), nullptr, kTokens, together.data(), kRows);
    for (uint32_t t = 0; t < kTokens; ++t) kernel(path, i)(weights.data(), kCols, 0, kRows, x.view(), &t, 1, &apart[t * kRows], kRows);
    EXPECT_TRUE(same_bits(together, apart));
    EXPECT_LT(error(path, type, weights, kCols, 0, kRows, x, {0, 1, 2}, together), 3e-7);
  }
}

TEST_P(MatmulTest, RandomShapes) {
  for (int round = 0; round < 200; ++round) {
    const size_t i = rng() % plan::kWeightTypes;
    const auto type = static_cast<WeightType>(i);
    const Path path = rng() % 2 == 0 && plan::info(type).elements > 1 ? Path::kQ8 : Path::kF32;
    const size_t elements = plan::info(type).elements;
    const size_t cols = elements * (1 + rng() % (elements == 1 ? 700 : elements == 32 ? 40 : 5));
    const size_t rows = 1 + rng() % 20, first = rng() % rows, last = first + 1 + rng() % (rows - first), available = 1 + rng() % 20;
    std::vector<uint32_t> tokens(1 + rng() % 20);
    for (auto& token : tokens) token = static_cast<uint32_t>(rng() % available);
    const auto weights = random_weights(rng, type, rows, cols);
    const RandomActivations x(rng, available, cols);
    std::vector<float> out(tokens.size() * (last - first));
    kernel(path, i)(weights.data(), cols, first, last, x.view(), tokens.data(), tokens.size(), out.data(), last - first);
    EXPECT_LT(error(path, type, weights, cols, first, last, x, tokens, out), 3e-7)
        << plan::info(type).name << " rows " << first << ".." << last << " cols " << cols << " tokens " << tokens.size();
  }
}

// The largest integers that each side can hold, where narrow sums would overflow.
TEST_P(MatmulTest, ExtremeIntegersAreSummedExactly) {
  constexpr size_t kRows = 4;
  for_each_kernel([&](Path path, WeightType type, MatmulFn matmul, size_t cols) {
    if (path != Path::kQ8) return;
    auto weights = random_weights(rng, type, kRows, cols);
    if (type == WeightType::kQ8_0) {
      for (size_t b = 0; b < weights.size(); b += 34) {
        for (size_t k = 2; k < 34; ++k) weights[b + k] = rng() % 2 == 0 ? 0x80 : 0x7f;
      }
    }
    RandomActivations x(rng, 2, cols);
    for (size_t t = 0; t < 2; ++t) {
      for (size_t c = 0; c < cols; ++c) x.f32[t * x.stride + c] = t == 0 || c % 2 == 0 ? 1.0f : -1.0f;
      kScalarKernels.quantize(&x.f32[t * x.stride], x.stride, &x.q8[t * x.stride], &x.scales[t * x.stride / 32],
                              &x.sums[t * x.stride / 16]);
    }
    std::vector<float> out(2 * kRows);
    matmul(weights.data(), cols, 0, kRows, x.view(), nullptr, 2, out.data(), kRows);
    EXPECT_LT(error(path, type, weights, cols, 0, kRows, x, {0, 1}, out), 3e-7);
  });
}

TEST_P(MatmulTest, NotANumberComesThrough) {
  for_each_kernel([&](Path path, WeightType type, MatmulFn matmul, size_t cols) {
    const auto weights = random_weights(rng, type, 2, cols);
    RandomActivations x(rng, 2, cols);
    x.f32[cols - 1] = NAN;
    x.scales[(cols - 1) / 32] = NAN;
    std::vector<float> out(4);
    matmul(weights.data(), cols, 0, 2, x.view(), nullptr, 2, out.data(), 2);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << static_cast<int>(path);
    EXPECT_TRUE(std::isfinite(out[2]) && std::isfinite(out[3])) << static_cast<int>(path);
  });
}

// A product with unit vectors shows the weights themselves.
TEST_P(MatmulTest, WeightsAreThoseOfTheFormat) {
  for (size_t i = 0; i < plan::kWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    SCOPED_TRACE(plan::info(type).name);
    constexpr size_t kRows = 5, kCols = 256;
    const auto weights = random_weights(rng, type, kRows, kCols);
    std::vector<float> units(kCols * kCols), out(kCols * kRows), expected(kRows * kCols);
    for (size_t c = 0; c < kCols; ++c) units[c * kCols + c] = 1;
    table->matmul_f32[i](weights.data(), kCols, 0, kRows, {units.data(), nullptr, nullptr, nullptr, kCols}, nullptr, kCols, out.data(),
                         kRows);
    for (size_t r = 0; r < kRows; ++r) {
      plan::dequantize_row(type, reinterpret_cast<const std::byte*>(&weights[r * plan::row_bytes(type, kCols)]), kCols,
                           &expected[r * kCols]);
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t c = 0; c < kCols; ++c) {
        EXPECT_LE(std::fabs(out[c * kRows + r] - expected[r * kCols + c]), std::fabs(expected[r * kCols + c]) * 0x1p-23f) << r << ' ' << c;
      }
    }
  }
}

TEAPOT_ALL_ISAS(MatmulTest);

}  // namespace
}  // namespace teapot::cpu
