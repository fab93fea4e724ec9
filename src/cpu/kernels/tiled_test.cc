#include <array>
#include <cmath>

#include "cpu/kernels/kernel_test.h"
#include "cpu/pack_tiles.h"
#include "plan/dequantize.h"

namespace teapot::cpu {
namespace {

using plan::WeightType;

std::vector<WeightType> tiled_types() {
  std::vector<WeightType> types;
  for (size_t i = 0; i < plan::kWeightTypes; ++i) {
    if (has_tiles(static_cast<WeightType>(i))) types.push_back(static_cast<WeightType>(i));
  }
  return types;
}

std::vector<size_t> widths(WeightType type) {
  if (plan::info(type).elements == 1) return {1, 7, 32, 96, 256, 513};
  if (plan::info(type).elements == 32) return {32, 64, 96, 256, 1056};
  return {256, 512, 1280};
}

struct TiledMatrix {
  std::vector<unsigned char> rows;  // as in a file
  std::vector<std::byte> bytes;     // tiles, with what fetching ahead may touch

  TiledMatrix(std::mt19937& rng, WeightType type, size_t count, size_t cols) : rows(random_weights(rng, type, count, cols)) {
    const size_t tiles = (count + 15) / 16, tile = tile_bytes(type, cols);
    bytes.resize(tiles * tile);
    for (size_t t = 0; t < tiles; ++t) {
      std::array<const std::byte*, 16> source{};
      for (size_t r = 0; r < 16 && t * 16 + r < count; ++r) {
        source[r] = reinterpret_cast<const std::byte*>(&rows[(t * 16 + r) * plan::row_bytes(type, cols)]);
      }
      pack_tile(type, source, cols, &bytes[t * tile]);
    }
  }
  const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes.data()); }
};

TEST(Tiles, UnpackedRowsAreTheFilesRows) {
  std::mt19937 rng{5};
  for (const WeightType type : tiled_types()) {
    for (const size_t cols : widths(type)) {
      SCOPED_TRACE(std::string(plan::info(type).name) + " " + std::to_string(cols));
      constexpr size_t kRows = 21;
      const TiledMatrix matrix(rng, type, kRows, cols);
      for (size_t r = 0; r < kRows; ++r) {
        std::vector<float> expected(cols), unpacked(cols);
        plan::dequantize_row(type, reinterpret_cast<const std::byte*>(&matrix.rows[r * plan::row_bytes(type, cols)]), cols,
                             expected.data());
        unpack_tile_row(type, &matrix.bytes[r / 16 * tile_bytes(type, cols)], r % 16, cols, unpacked.data());
        EXPECT_EQ(expected, unpacked) << r;
      }
    }
  }
}

TEST(Tiles, TakeAtMostThreePercentMoreThanTheFile) {
  for (const WeightType type : tiled_types()) {
    EXPECT_LE(static_cast<double>(tile_bytes(type, 2048)), 1.03 * 16 * static_cast<double>(plan::row_bytes(type, 2048)))
        << plan::info(type).name;
  }
}

class TiledTest : public KernelTest {};

struct Kernel {
  const char* name;
  MatmulFn (KernelTable::*table)[kKernelWeightTypes];
};
constexpr Kernel kKernels[] = {{"f32", &KernelTable::tiled_f32}, {"int8", &KernelTable::tiled_q8}};

// The scalar table against double; the others have its bits.
TEST(Tiles, ScalarIsTheProductInDouble) {
  std::mt19937 rng{6};
  constexpr size_t kRows = 18, kTokens = 3;
  for (const Kernel& kernel : kKernels) {
    for (const WeightType type : tiled_types()) {
      const MatmulFn matmul = (kScalarKernels.*kernel.table)[static_cast<size_t>(type)];
      const bool int8 = kernel.table == &KernelTable::tiled_q8;
      ASSERT_EQ(matmul == nullptr, int8 && plan::info(type).elements == 1);
      if (matmul == nullptr) continue;
      for (const size_t cols : widths(type)) {
        SCOPED_TRACE(std::string(plan::info(type).name) + " " + kernel.name + " " + std::to_string(cols));
        const TiledMatrix matrix(rng, type, kRows, cols);
        const RandomActivations x(rng, kTokens, cols);
        std::vector<float> out(kTokens * kRows);
        matmul(matrix.data(), cols, 0, kRows, x.view(), nullptr, kTokens, out.data(), kRows);
        for (size_t r = 0; r < kRows; ++r) {
          std::vector<float> w(cols);
          unpack_tile_row(type, &matrix.bytes[r / 16 * tile_bytes(type, cols)], r % 16, cols, w.data());
          for (size_t t = 0; t < kTokens; ++t) {
            double dot = 0, ww = 0, xx = 0;
            for (size_t c = 0; c < cols; ++c) {
              const double value = int8 ? x.rounded(t, c) : x.f32[t * x.stride + c];
              dot += w[c] * value;
              ww += static_cast<double>(w[c]) * w[c];
              xx += value * value;
            }
            EXPECT_NEAR(out[t * kRows + r], dot, 1e-6 * std::sqrt(ww * xx) + 1e-30);
          }
        }
      }
    }
  }
}

// Every table, number of tokens, range of rows and choice of tokens gives the bits of the scalar table.
TEST_P(TiledTest, HasTheBitsOfTheScalarTable) {
  constexpr size_t kRows = 40, kTokens = 37;
  constexpr std::array<std::array<size_t, 2>, 6> kRanges = {{{0, kRows}, {0, 16}, {16, 40}, {3, 7}, {5, 33}, {39, 40}}};
  std::vector<uint32_t> chosen;
  for (uint32_t t = 0; t < kTokens; ++t) chosen.push_back(t * 11 % kTokens);
  for (const Kernel& kernel : kKernels) {
    for (const WeightType type : tiled_types()) {
      const MatmulFn reference = (kScalarKernels.*kernel.table)[static_cast<size_t>(type)];
      const MatmulFn matmul = (table->*kernel.table)[static_cast<size_t>(type)];
      ASSERT_EQ(matmul == nullptr, reference == nullptr);
      if (matmul == nullptr) continue;
      for (const size_t cols : widths(type)) {
        SCOPED_TRACE(std::string(plan::info(type).name) + " " + kernel.name + " " + std::to_string(cols));
        const TiledMatrix matrix(rng, type, kRows, cols);
        const RandomActivations x(rng, kTokens, cols);
        std::vector<float> whole(kTokens * kRows);
        reference(matrix.data(), cols, 0, kRows, x.view(), chosen.data(), kTokens, whole.data(), kRows);
        for (const size_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 37}) {
          for (const auto& [first, last] : kRanges) {
            const size_t stride = last - first + 2;
            std::vector<float> out(tokens * stride, 12345.0f), expected = out;
            for (size_t t = 0; t < tokens; ++t) std::copy_n(&whole[t * kRows + first], last - first, &expected[t * stride]);
            matmul(matrix.data(), cols, first, last, x.view(), chosen.data(), tokens, out.data(), stride);
            ASSERT_TRUE(same_bits(out, expected)) << tokens << " tokens, rows " << first << " to " << last;
          }
        }
      }
    }
  }
}

TEST_P(TiledTest, ANanOfAnActivationComesThrough) {
  const auto type = static_cast<size_t>(WeightType::kQ4_K);
  const TiledMatrix matrix(rng, WeightType::kQ4_K, 16, 256);
  RandomActivations x(rng, 1, 256);
  x.f32[40] = NAN;
  table->quantize(x.f32.data(), 256, x.q8.data(), x.scales.data(), x.sums.data());
  x.totals[1] = NAN;
  std::vector<float> out(16);
  table->tiled_q8[type](matrix.data(), 256, 0, 16, x.view(), nullptr, 1, out.data(), 16);
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

TEAPOT_ALL_ISAS(TiledTest);

}  // namespace
}  // namespace teapot::cpu
