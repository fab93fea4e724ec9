#include "plan/convert_rows.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/half.h"
#include "plan/dequantize.h"

namespace teapot::plan {
namespace {

constexpr uint32_t kRows = 10;
constexpr uint32_t kCols = 64;

// A bf16 tensor whose rows the matrix has in another order: 6 to 9, then 0 to 5.
class ConvertRows : public ::testing::Test {
 protected:
  ConvertRows() {
    for (uint32_t i = 0; i < kRows * kCols; ++i) file_.push_back(f32_to_bf16(std::sin(static_cast<float>(i)) * static_cast<float>(i % 7)));
  }

  Matrix matrix(WeightType type) {
    const auto* data = reinterpret_cast<const std::byte*>(file_.data());
    Matrix matrix{"w", type, kRows, kCols, {{data + 6 * kCols * 2, 4}, {data, 6}}};
    if (type != WeightType::kBF16) matrix.source = WeightType::kBF16;
    return matrix;
  }

  std::vector<float> row_of_file(uint32_t row) const {
    std::vector<float> values;
    for (uint32_t i = 0; i < kCols; ++i) values.push_back(bf16_to_f32(file_[row * kCols + i]));
    return values;
  }

  std::vector<uint16_t> file_;
};

std::vector<std::byte> convert(const Matrix& matrix, uint32_t first, uint32_t rows) {
  std::vector<std::byte> out(rows * row_bytes(matrix.type, matrix.cols));
  const Status done = convert_rows(matrix, first, rows, out.data());
  EXPECT_TRUE(done) << done.error().message;
  return out;
}

TEST_F(ConvertRows, CopiesInTheMatrixsOrder) {
  const auto rows = convert(matrix(WeightType::kBF16), 2, 5);  // 8, 9, 0, 1, 2
  const size_t bytes = kCols * 2;
  const auto* file = reinterpret_cast<const std::byte*>(file_.data());
  EXPECT_EQ(std::memcmp(rows.data(), file + 8 * bytes, 2 * bytes), 0);
  EXPECT_EQ(std::memcmp(rows.data() + 2 * bytes, file, 3 * bytes), 0);
}

TEST_F(ConvertRows, QuantisesEachRowByItself) {
  const Matrix whole = matrix(WeightType::kQ8_0);
  const auto all = convert(whole, 0, kRows);
  const size_t bytes = row_bytes(WeightType::kQ8_0, kCols);
  for (uint32_t row = 0; row < kRows; ++row) {
    const auto one = convert(whole, row, 1);
    EXPECT_EQ(std::memcmp(one.data(), all.data() + row * bytes, bytes), 0);
    std::vector<float> values(kCols);
    dequantize_row(WeightType::kQ8_0, one.data(), kCols, values.data());
    const auto expected = row_of_file(row < 4 ? row + 6 : row - 4);
    for (uint32_t i = 0; i < kCols; ++i) EXPECT_NEAR(values[i], expected[i], 6.0f / 250) << "row " << row << " column " << i;
  }
}

TEST_F(ConvertRows, NamesTensorRowAndColumnOfWhatIsNoNumber) {
  file_[1 * kCols + 7] = 0x7f80;
  std::vector<std::byte> out(kRows * row_bytes(WeightType::kQ4_0, kCols));
  const Status refused = convert_rows(matrix(WeightType::kQ4_0), 0, kRows, out.data());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().message, "tensor w, row 5: column 7 is inf, expected a finite number");
}

}  // namespace
}  // namespace teapot::plan
