#include "cpu/packed_weights.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "plan/convert_rows.h"
#include "plan/dequantize.h"

namespace teapot::cpu {
namespace {

class PackedWeightsTest : public testing::Test {
 protected:
  PackedWeightsTest() : team(*ThreadTeam::create(2, {})), bytes(8u << 20) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  }

  std::unique_ptr<ThreadTeam> team;
  std::vector<std::byte> bytes;
};

TEST_F(PackedWeightsTest, RunsAreJoinedInOrderAndMatricesAligned) {
  constexpr size_t kRow = 2 * 34;  // 64 weights of Q8_0
  plan::WeightTable table;
  table.matrices.push_back({"a", plan::WeightType::kQ8_0, 5, 64, {{&bytes[1000], 2}, {&bytes[7], 3}}});
  table.matrices.push_back({"b", plan::WeightType::kF32, 1500, 1024, {{bytes.data(), 1500}}});  // several pieces of copying
  table.vectors.push_back({"v", {1, 2, 3}});
  std::vector<uint64_t> progress;
  const auto on_progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 5 * kRow + 1500u * 1024u * 4u);
    progress.push_back(done);
  };
  const auto packed = PackedWeights::load(table, Pages::k4k, *team, on_progress, /*prepack=*/false);
  ASSERT_TRUE(packed.has_value()) << packed.error().message;
  const unsigned char* const a = packed->matrix(plan::MatrixId{0});
  EXPECT_EQ(0, std::memcmp(a, &bytes[1000], 2 * kRow));
  EXPECT_EQ(0, std::memcmp(a + 2 * kRow, &bytes[7], 3 * kRow));
  const unsigned char* const b = packed->matrix(plan::MatrixId{1});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % kAlignment, 0u);
  EXPECT_EQ(0, std::memcmp(b, bytes.data(), 1500u * 1024u * 4u));
  EXPECT_EQ(packed->vector(plan::VectorId{0})[2], 3.0f);
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  EXPECT_EQ(progress.front(), 0u);
  EXPECT_EQ(progress.back(), 5 * kRow + 1500u * 1024u * 4u);
}

TEST_F(PackedWeightsTest, TilesHoldTheRowsInOrder) {
  plan::WeightTable table;
  table.matrices.push_back({"runs", plan::WeightType::kQ8_0, 37, 64, {{&bytes[1000], 5}, {&bytes[70000], 18}, {&bytes[7], 14}}});
  table.matrices.push_back({"few rows", plan::WeightType::kQ8_0, 15, 64, {{&bytes[300], 15}}});
  table.matrices.push_back({"no tiles", plan::WeightType::kQ4_1, 64, 64, {{&bytes[300], 64}}});
  const auto packed = PackedWeights::load(table, Pages::k4k, *team, {});
  ASSERT_TRUE(packed.has_value()) << packed.error().message;
  EXPECT_TRUE(packed->tiled(plan::MatrixId{0}));
  EXPECT_FALSE(packed->tiled(plan::MatrixId{1}));
  EXPECT_FALSE(packed->tiled(plan::MatrixId{2}));
  EXPECT_EQ(packed->matrix_bytes(plan::MatrixId{0}), 3u * 16 * 68);
  for (size_t m = 0; m < table.matrices.size(); ++m) {
    const plan::Matrix& matrix = table.matrices[m];
    const size_t row_bytes = plan::row_bytes(matrix.type, matrix.cols);
    size_t row = 0;
    for (const plan::RowRun& run : matrix.runs) {
      for (size_t i = 0; i < run.rows; ++i, ++row) {
        std::vector<float> expected(matrix.cols), found(matrix.cols);
        plan::dequantize_row(matrix.type, run.data + i * row_bytes, matrix.cols, expected.data());
        packed->row(static_cast<plan::MatrixId>(m), row, found.data());
        EXPECT_EQ(0, std::memcmp(expected.data(), found.data(), matrix.cols * sizeof(float))) << matrix.name << " row " << row;
      }
    }
  }
}

TEST_F(PackedWeightsTest, AMatrixThatContradictsItselfIsNamed) {
  const auto error = [&](const plan::Matrix& matrix) {
    const auto packed = PackedWeights::load({{matrix}, {}}, Pages::k4k, *team, {});
    return packed ? std::string() : packed.error().message;
  };
  EXPECT_NE(error({"short runs", plan::WeightType::kF32, 3, 4, {{bytes.data(), 2}}}).find("short runs"), std::string::npos);
  EXPECT_NE(error({"half a block", plan::WeightType::kQ8_0, 1, 48, {{bytes.data(), 1}}}).find("half a block"), std::string::npos);
}

TEST_F(PackedWeightsTest, MoreThanThereIsIsAnErrorWithBothNumbers) {
  const plan::Matrix huge{"huge", plan::WeightType::kF32, 1u << 31, 1u << 20, {{bytes.data(), 1u << 31}}};
  const auto packed = PackedWeights::load({{huge}, {}}, Pages::k4k, *team, {});
  ASSERT_FALSE(packed.has_value());
  EXPECT_EQ(packed.error().kind, ErrorKind::kMemory);
}

// Quantised on the way: the rows are those that convert_rows gives, in tiles or not; what cannot be quantised fails the load.
TEST_F(PackedWeightsTest, QuantisesFromAWiderSource) {
  constexpr uint32_t kCols = 256;
  std::vector<float> weights(2 * 40 * kCols);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i));
  const auto* const data = reinterpret_cast<const std::byte*>(weights.data());
  plan::WeightTable table;
  for (const plan::WeightType type : {plan::WeightType::kQ8_0, plan::WeightType::kQ4_0, plan::WeightType::kQ4_K, plan::WeightType::kQ6_K}) {
    table.matrices.push_back({"w", type, 37, kCols, {{data + 40 * kCols * 4, 17}, {data, 20}}, plan::WeightType::kF32});
  }
  for (const bool prepack : {true, false}) {
    const auto packed = PackedWeights::load(table, Pages::k4k, *team, {}, prepack);
    ASSERT_TRUE(packed.has_value()) << packed.error().message;
    for (size_t m = 0; m < table.matrices.size(); ++m) {
      const plan::Matrix& matrix = table.matrices[m];
      const auto id = static_cast<plan::MatrixId>(m);
      EXPECT_EQ(packed->tiled(id), prepack);
      for (uint32_t row = 0; row < matrix.rows; ++row) {
        std::vector<std::byte> blocks(row_bytes(matrix.type, kCols));
        ASSERT_TRUE(plan::convert_rows(matrix, row, 1, blocks.data()));
        std::vector<float> expected(kCols), values(kCols);
        plan::dequantize_row(matrix.type, blocks.data(), kCols, expected.data());
        packed->row(id, row, values.data());
        ASSERT_EQ(values, expected) << plan::info(matrix.type).name << " row " << row;
      }
    }
  }
  weights[5 * kCols + 3] = std::numeric_limits<float>::infinity();
  const auto refused = PackedWeights::load(table, Pages::k4k, *team, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().message, "tensor w, row 22: column 3 is inf, expected a finite number");
}

}  // namespace
}  // namespace teapot::cpu
