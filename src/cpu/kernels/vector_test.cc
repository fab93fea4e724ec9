#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/kernels/kernel_test.h"

namespace teapot::cpu {
namespace {

constexpr size_t kSizes[] = {1, 3, 8, 15, 16, 17, 31, 32, 33, 64, 100, 128, 160, 511, 2048};

class VectorTest : public KernelTest {
 protected:
  // A vector of n and a guard: what is beyond the end must stay as it is.
  static std::vector<float> guarded(size_t n) { return std::vector<float>(n + 40, 777.0f); }
  static void expect_guard(const std::vector<float>& y, size_t n) {
    for (size_t i = n; i < y.size(); ++i) ASSERT_EQ(y[i], 777.0f) << i;
  }

  // |y - expected| <= bound * |expected| for each element.
  template <class Expected>
  static void expect_close(const std::vector<float>& y, size_t n, double bound, Expected expected) {
    for (size_t i = 0; i < n; ++i) {
      const double value = expected(i);
      ASSERT_LE(std::fabs(y[i] - value), bound * std::fabs(value) + 1e-44) << "element " << i << " of " << n << ": " << value;
    }
    expect_guard(y, n);
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }

TEST_P(VectorTest, Norms) {
  constexpr float kEps = 1e-6f;
  for (const size_t n : kSizes) {
    const auto x = random_floats(rng, n), w = random_floats(rng, n), z = random_floats(rng, n, 3);
    double squares = 0;
    for (const float value : x) squares += static_cast<double>(value) * value;
    const double rms = 1 / std::sqrt(squares / static_cast<double>(n) + kEps);
    auto y = guarded(n);
    table->rms_norm(x.data(), w.data(), kEps, n, y.data());
    expect_close(y, n, 4e-7, [&](size_t i) { return x[i] * rms * w[i]; });
    table->l2_norm(x.data(), kEps, 0.25f, n, y.data());
    expect_close(y, n, 4e-7, [&](size_t i) { return x[i] * 0.25 / std::sqrt(squares + kEps); });
    table->gated_norm(x.data(), z.data(), w.data(), kEps, n, y.data());
    expect_close(y, n, 8e-7, [&](size_t i) { return x[i] * rms * w[i] * silu(z[i]); });
  }
}

TEST_P(VectorTest, NormOfZerosIsZero) {
  const std::vector<float> zeros(100), ones(100, 1.0f);
  auto y = guarded(100);
  table->rms_norm(zeros.data(), ones.data(), 1e-6f, 100, y.data());
  expect_close(y, 100, 0, [](size_t) { return 0; });
  table->l2_norm(zeros.data(), 1e-6f, 1, 100, y.data());
  expect_close(y, 100, 0, [](size_t) { return 0; });
}

TEST_P(VectorTest, Activations) {
  for (const size_t n : kSizes) {
    const auto gate = random_floats(rng, n, 8), x = random_floats(rng, n);
    auto y = guarded(n);
    table->silu(gate.data(), n, y.data());
    expect_close(y, n, 5e-7, [&](size_t i) { return silu(gate[i]); });
    table->silu_mul(gate.data(), x.data(), n, y.data());
    expect_close(y, n, 6e-7, [&](size_t i) { return silu(gate[i]) * x[i]; });
    table->sigmoid_mul(x.data(), gate.data(), n, y.data());
    expect_close(y, n, 6e-7, [&](size_t i) { return sigmoid(gate[i]) * x[i]; });
    auto sum = guarded(n);
    std::copy(x.begin(), x.end(), sum.begin());
    table->add_scaled(gate.data(), 0.3f, n, sum.data());
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(sum[i], x[i] + 0.3f * static_cast<double>(gate[i]), 3e-6);
    expect_guard(sum, n);
  }
}

TEST_P(VectorTest, ActivationsInPlace) {
  const auto x = random_floats(rng, 100), gate = random_floats(rng, 100);
  std::vector<float> apart(100), in_place = gate;
  table->silu_mul(gate.data(), x.data(), 100, apart.data());
  table->silu_mul(in_place.data(), x.data(), 100, in_place.data());
  EXPECT_TRUE(same_bits(apart, in_place));
  in_place = x;
  table->rms_norm(x.data(), gate.data(), 1e-6f, 100, apart.data());
  table->rms_norm(in_place.data(), gate.data(), 1e-6f, 100, in_place.data());
  EXPECT_TRUE(same_bits(apart, in_place));
}

// The whole range of the exponential: 1 * sigmoid(x) = e^x to f32 for x < -17, through the subnormals to 0.
TEST_P(VectorTest, SigmoidOverTheWholeRange) {
  std::vector<float> x;
  for (float value = -150; value <= 150; value += 0.0371f) x.push_back(value);
  const std::vector<float> ones(x.size(), 1.0f);
  auto y = guarded(x.size());
  table->sigmoid_mul(ones.data(), x.data(), x.size(), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    // Below -88 the exponential of -x is beyond f32 and the sigmoid is 0; its true value is subnormal.
    EXPECT_NEAR(y[i], sigmoid(x[i]), x[i] < -87 ? 1e-37 : 4e-7 * sigmoid(x[i])) << x[i];
  }
}

TEST_P(VectorTest, SiluAtTheEnds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> y(5);
  const std::vector<float> x = {-100, -1e30f, 100, kInfinity, NAN};
  table->silu(x.data(), x.size(), y.data());
  EXPECT_NEAR(y[0], 0, 1e-37);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 100);
  EXPECT_EQ(y[3], kInfinity);
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST_P(VectorTest, Convolution) {
  for (const size_t channels : kSizes) {
    for (const size_t kernel : {1, 2, 4}) {
      const auto w = random_floats(rng, kernel * channels), x = random_floats(rng, kernel * channels);
      std::vector<const float*> rows(kernel);
      for (size_t i = 0; i < kernel; ++i) rows[i] = &x[i * channels];
      auto y = guarded(channels);
      table->conv_silu(rows.data(), w.data(), kernel, channels, y.data());
      for (size_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (size_t i = 0; i < kernel; ++i) sum += static_cast<double>(w[i * channels + c]) * x[i * channels + c];
        EXPECT_NEAR(y[c], silu(sum), 3e-6);
      }
      expect_guard(y, channels);
    }
  }
}

TEST_P(VectorTest, QuantizeEqualsScalarBitForBit) {
  constexpr size_t kCols = 32 * 9;
  auto x = random_floats(rng, kCols);
  std::fill_n(&x[32], 32, 0.0f);
  for (size_t i = 64; i < 96; ++i) x[i] *= 1e-43f;  // the scale is subnormal
  x[100] = NAN;
  x[130] = std::numeric_limits<float>::infinity();
  for (size_t i = 160; i < 192; ++i) x[i] *= 1e37f;
  for (size_t i = 192; i < 224; ++i) x[i] = static_cast<float>(static_cast<int>(i) - 200) + 0.5f;
  x[192] = 127;  // scale 1: ties go to even
  x[224] = 1e-45f;
  std::fill_n(&x[225], 31, 0.0f);
  std::vector<int8_t> q(kCols), expected_q(kCols);
  std::vector<float> scales(kCols / 32), expected_scales(kCols / 32);
  std::vector<int32_t> sums(kCols / 16), expected_sums(kCols / 16);
  table->quantize(x.data(), kCols, q.data(), scales.data(), sums.data());
  kScalarKernels.quantize(x.data(), kCols, expected_q.data(), expected_scales.data(), expected_sums.data());
  EXPECT_EQ(q, expected_q);
  EXPECT_EQ(sums, expected_sums);
  for (size_t b = 0; b < scales.size(); ++b) {
    EXPECT_TRUE(scales[b] == expected_scales[b] || (std::isnan(scales[b]) && (b == 3 || b == 4))) << b;
    for (size_t i = 32 * b; i < 32 * b + 32; ++i) {
      EXPECT_GE(q[i], -127);
      if (b != 2 && b != 3 && b != 4 && b != 7) {
        EXPECT_LE(std::fabs(scales[b] * q[i] - x[i]), 0.5001f * scales[b]) << i;
      }
    }
  }
}

TEST_P(VectorTest, ArgmaxIsTheFirstOfTheLargest) {
  EXPECT_EQ(table->argmax(nullptr, 0), -1);
  for (const size_t n : kSizes) {
    auto x = random_floats(rng, n);
    const size_t at = rng() % n;
    x[at] = 50;
    for (size_t i = at + 1; i < n; i += 3) x[i] = 50;
    EXPECT_EQ(table->argmax(x.data(), n), static_cast<int32_t>(at));
    std::fill(x.begin(), x.end(), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(table->argmax(x.data(), n), 0);
    x[at] = NAN;
    EXPECT_EQ(table->argmax(x.data(), n), -1);
  }
}

TEST_P(VectorTest, SumsOfExponentials) {
  EXPECT_EQ(table->sum_exp(nullptr, 0, 0), 0);
  for (const size_t n : kSizes) {
    auto x = random_floats(rng, n, 20);
    const float largest = *std::ranges::max_element(x);
    double sum = 0;
    for (const float value : x) sum += std::exp(static_cast<double>(value) - largest);
    EXPECT_NEAR(table->sum_exp(x.data(), largest, n), sum, 1e-6 * sum) << n;
    std::fill(x.begin(), x.end(), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(table->sum_exp(x.data(), largest, n), 0) << n;
    x[n / 2] = NAN;
    EXPECT_TRUE(std::isnan(table->sum_exp(x.data(), largest, n))) << n;
  }
}

TEST_P(VectorTest, StoresKvInEachType) {
  for (const size_t n : kSizes) {
    auto x = random_floats(rng, n, 1000);
    std::vector<uint16_t> stored(n + 20, 0x1234);
    EXPECT_EQ(table->store_kv[kKvF16](x.data(), n, stored.data()), 0u);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(stored[i], f32_to_f16(x[i]));
    EXPECT_EQ(table->store_kv[kKvBF16](x.data(), n, stored.data()), 0u);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(stored[i], f32_to_bf16(x[i]));
    for (size_t i = n; i < stored.size(); ++i) EXPECT_EQ(stored[i], 0x1234);
    std::vector<float> copied(n);
    EXPECT_EQ(table->store_kv[kKvF32](x.data(), n, copied.data()), 0u);
    EXPECT_TRUE(same_bits(copied, x));
  }
}

TEST_P(VectorTest, F16SaturatesAndCounts) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {65504, -65504, 65505, -70000, kInfinity, -kInfinity, NAN, 1, 1e-8f, 2049, 1e30f};
  std::vector<uint16_t> stored(x.size());
  EXPECT_EQ(table->store_kv[kKvF16](x.data(), x.size(), stored.data()), 5u);
  const std::vector<float> expected = {65504, -65504, 65504, -65504, 65504, -65504, NAN, 1, 0, 2048, 65504};
  for (size_t i = 0; i < x.size(); ++i) {
    if (i != 6) {
      EXPECT_EQ(f16_to_f32(stored[i]), expected[i]) << i;
    }
  }
  EXPECT_TRUE(std::isnan(f16_to_f32(stored[6])));
  const std::vector<float> nan(17, NAN);
  std::vector<uint16_t> brains(17);
  table->store_kv[kKvBF16](nan.data(), 17, brains.data());
  for (const uint16_t bits : brains) EXPECT_TRUE(std::isnan(bf16_to_f32(bits)));
}

TEAPOT_ALL_ISAS(VectorTest);

}  // namespace
}  // namespace teapot::cpu
