#include "plan/quantize.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "plan/dequantize.h"

namespace teapot::plan {
namespace {

constexpr size_t kCols = 1024;

std::vector<std::byte> blocks_of(WeightType type, const std::vector<float>& row) {
  std::vector<std::byte> blocks(row_bytes(type, row.size()), std::byte{0xa5});
  const Status done = quantize_row(type, row, blocks.data());
  EXPECT_TRUE(done) << done.error().message;
  return blocks;
}

std::vector<float> round_trip(WeightType type, const std::vector<float>& row) {
  std::vector<float> values(row.size());
  dequantize_row(type, blocks_of(type, row).data(), row.size(), values.data());
  return values;
}

double relative_error(const std::vector<float>& values, const std::vector<float>& expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    difference += std::pow(static_cast<double>(values[i]) - expected[i], 2);
    size += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / size);
}

std::vector<float> normal_row(unsigned seed, float deviation, size_t cols = kCols) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> row(cols);
  for (float& x : row) x = normal(random);
  return row;
}

struct Format {
  WeightType type;
  double error;    // relative, of normally distributed weights; rounding with the largest value at the last level gives 4 to 6 % more
  float furthest;  // error of one value, as a share of its block's largest
};

class Quantize : public ::testing::TestWithParam<Format> {};

// From ordinary weights down to where f16 scales have few bits left.
TEST_P(Quantize, MeetsNormallyDistributedWeights) {
  const auto [type, error, furthest] = GetParam();
  const size_t block = info(type).elements;
  for (const float deviation : {30.0f, 0.02f, 1e-3f}) {
    const std::vector<float> row = normal_row(1, deviation, 64 * kCols);
    const std::vector<float> values = round_trip(type, row);
    EXPECT_LT(relative_error(values, row), error) << deviation;
    for (size_t i = 0; i < row.size(); i += block) {
      float largest = 0;
      for (size_t j = i; j < i + block; ++j) largest = std::max(largest, std::abs(row[j]));
      for (size_t j = i; j < i + block; ++j) ASSERT_LE(std::abs(values[j] - row[j]), furthest * largest) << "column " << j;
    }
  }
}

TEST_P(Quantize, LosesNoMoreOfTinyWeightsThanF16Can) {
  const auto type = GetParam().type;
  for (const float deviation : {1e-5f, 1e-6f, 1e-8f, 1e-30f, 1e-41f}) {
    const std::vector<float> row = normal_row(2, deviation);
    const std::vector<float> values = round_trip(type, row);
    for (size_t i = 0; i < row.size(); ++i) ASSERT_LE(std::abs(values[i] - row[i]), std::max(0x1p-23f, 0.25f * 5 * deviation)) << deviation;
  }
}

TEST_P(Quantize, KeepsZerosAndBlocksOfOneValue) {
  const auto type = GetParam().type;
  for (const float x : round_trip(type, std::vector<float>(kCols, 0.0f))) EXPECT_EQ(x, 0);
  for (const float value : {0.75f, -0.75f}) {
    for (const float x : round_trip(type, std::vector<float>(kCols, value))) EXPECT_NEAR(x, value, 0.75f / 127);
  }
}

// One huge weight costs its own block its precision and no other.
TEST_P(Quantize, AnOutlierTouchesItsBlockOnly) {
  const auto type = GetParam().type;
  const WeightTypeInfo& format = info(type);
  std::vector<float> row = normal_row(3, 0.02f);
  const auto before = blocks_of(type, row);
  row[300] = -90;
  const auto after = blocks_of(type, row);
  const size_t touched = 300 / format.elements;
  for (size_t i = 0; i < before.size(); ++i) {
    if (i / format.bytes == touched) continue;
    ASSERT_EQ(before[i], after[i]) << "byte " << i;
  }
  EXPECT_NEAR(round_trip(type, row)[300], -90, 90 * 0.02);
}

TEST_P(Quantize, RefusesWhatIsNoNumberOrTooLargeForTheScale) {
  const auto type = GetParam().type;
  std::vector<std::byte> blocks(row_bytes(type, kCols));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY}) {
    std::vector<float> row = normal_row(4, 0.02f);
    row[517] = bad;
    const Status refused = quantize_row(type, row, blocks.data());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(refused.error().message.find("column 517 is " + fmt::format("{}", bad)), std::string::npos) << refused.error().message;
  }
  for (const float bad : {1e9f, -1e25f, 3e38f}) {
    std::vector<float> row = normal_row(4, 0.02f);
    row[517] = bad;
    row[520] = -bad;
    const Status refused = quantize_row(type, row, blocks.data());
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("too much for the f16 scales of " + std::string(info(type).name)), std::string::npos)
        << refused.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Quantize,
                         ::testing::Values(Format{WeightType::kQ8_0, 0.0055, 0.51f / 127}, Format{WeightType::kQ4_0, 0.0815, 0.2f},
                                           Format{WeightType::kQ4_K, 0.0735, 0.15f}, Format{WeightType::kQ6_K, 0.0176, 0.04f}),
                         [](const auto& format) { return std::string(plan::info(format.param.type).name); });

TEST(QuantizeTypes, AreFour) {
  size_t found = 0;
  for (size_t type = 0; type < kWeightTypes; ++type) found += can_quantize(static_cast<WeightType>(type)) ? 1 : 0;
  EXPECT_EQ(found, 4u);
  EXPECT_FALSE(can_quantize(WeightType::kQ5_K));
}

}  // namespace
}  // namespace teapot::plan
