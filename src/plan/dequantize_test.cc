#include "plan/dequantize.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/npy.h"
#include "test_data.h"

namespace teapot::plan {
namespace {

// Distance in representable floats; 0 for +0 and -0.
int64_t ulps(float a, float b) {
  const auto order = [](float x) {
    const int32_t bits = std::bit_cast<int32_t>(x);
    return bits >= 0 ? static_cast<int64_t>(bits) : -static_cast<int64_t>(bits & 0x7fffffff);
  };
  return std::abs(order(a) - order(b));
}

// NaN and -0 are to be compared as they are.
std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

// `base`.bin: blocks of random bytes (zero, subnormal and negative scales among them); `base`.npy: their values by the format's reference.
void expect_reference_values(WeightType type, const std::string& base) {
  const auto blocks = read_file(base + ".bin");
  ASSERT_TRUE(blocks) << blocks.error().message;
  const auto expected = read_npy_f32(base + ".npy");
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_EQ(blocks->size(), row_bytes(type, expected->values.size()));
  std::vector<float> values(expected->values.size());
  dequantize_row(type, reinterpret_cast<const std::byte*>(blocks->data()), values.size(), values.data());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_LE(ulps(values[i], expected->values[i]), 1) << "weight " << i << ": " << values[i] << ", expected " << expected->values[i];
}

class Dequantize : public ::testing::TestWithParam<size_t> {};
class DequantizeGolden : public Dequantize {};

TEST_P(DequantizeGolden, WithinOneUlp) {
  const auto type = static_cast<WeightType>(GetParam());
  expect_reference_values(type, testing::test_data("dequant/" + std::string(info(type).name)).string());
}

TEST_P(DequantizeGolden, WithinOneUlpOnAllBlocks) {
  const auto type = static_cast<WeightType>(GetParam());
  TEAPOT_NEEDS(testing::shared_data("goldens/dequant"));
  expect_reference_values(type, testing::shared_data("goldens/dequant/" + std::string(info(type).name)).string());
}

// Block formats have no alignment: a row may begin at any byte of a mapped file.
TEST_P(Dequantize, ReadsUnalignedRows) {
  const auto type = static_cast<WeightType>(GetParam());
  const size_t cols = 512;
  const size_t bytes = row_bytes(type, cols);
  std::vector<std::byte> row(bytes);
  for (size_t i = 0; i < bytes; ++i) row[i] = static_cast<std::byte>((i * 37 + 11) & 0x3f);
  std::vector<std::byte> shifted(bytes + 1);
  std::memcpy(shifted.data() + 1, row.data(), bytes);
  std::vector<float> straight(cols);
  std::vector<float> odd(cols);
  dequantize_row(type, row.data(), cols, straight.data());
  dequantize_row(type, shifted.data() + 1, cols, odd.data());
  EXPECT_EQ(bits_of(straight), bits_of(odd));
}

const auto type_name = [](const auto& type) { return std::string(kWeightTypeInfo[type.param].name); };
INSTANTIATE_TEST_SUITE_P(All, Dequantize, ::testing::Range<size_t>(0, kWeightTypes), type_name);
// F32 has no golden file: nothing is converted.
INSTANTIATE_TEST_SUITE_P(All, DequantizeGolden, ::testing::Range<size_t>(1, kWeightTypes), type_name);

TEST(DequantizeF32, CopiesBits) {
  const std::vector<float> row = {0.0f, -0.0f, 1e-42f, -3.5f, INFINITY};
  std::vector<float> out(row.size());
  dequantize_row(WeightType::kF32, reinterpret_cast<const std::byte*>(row.data()), row.size(), out.data());
  EXPECT_EQ(bits_of(row), bits_of(out));
}

}  // namespace
}  // namespace teapot::plan
