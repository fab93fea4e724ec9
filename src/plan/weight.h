// Weights as the model floor hands them to a backend: matrices in the block formats of their file, small vectors in f32.
//
// A backend copies (and may repack) them once, at load; the bytes they point to need not outlive that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teapot::plan {

enum class WeightType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS
};
constexpr size_t kWeightTypes = 15;

// A row is a whole number of blocks; each block holds `elements` consecutive weights in `bytes` bytes (spec 5.5).
struct WeightTypeInfo {
  std::string_view name;  // as GGUF spells it
  uint32_t elements;
  uint32_t bytes;
};

constexpr std::array<WeightTypeInfo, kWeightTypes> kWeightTypeInfo = {{
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"BF16", 1, 2},
    {"Q8_0", 32, 34},
    {"Q4_0", 32, 18},
    {"Q4_1", 32, 20},
    {"Q5_0", 32, 22},
    {"Q5_1", 32, 24},
    {"Q2_K", 256, 84},
    {"Q3_K", 256, 110},
    {"Q4_K", 256, 144},
    {"Q5_K", 256, 176},
    {"Q6_K", 256, 210},
    {"IQ4_NL", 32, 18},
    {"IQ4_XS", 256, 136},
}};

constexpr const WeightTypeInfo& info(WeightType type) { return kWeightTypeInfo[static_cast<size_t>(type)]; }

// cols must be a multiple of the type's block elements.
constexpr size_t row_bytes(WeightType type, size_t cols) { return cols / info(type).elements * info(type).bytes; }

// Consecutive rows of a file's tensor.
struct RowRun {
  const std::byte* data;
  uint32_t rows;
};

// [rows, cols], row-major, y = W x. The rows stand in the order the plan wants; runs say where they lie, so that a fused, split or
// interleaved file layout costs nothing but the copy that loading makes anyway.
struct Matrix {
  std::string name;  // the file's tensor (the first, if several): for messages
  WeightType type;
  uint32_t rows;
  uint32_t cols;
  std::vector<RowRun> runs;  // their rows add up to `rows`
  // What the runs hold, if it is not `type`: F32, F16 or BF16, to be quantised while they are copied (convert_rows).
  std::optional<WeightType> source = {};

  WeightType source_type() const { return source.value_or(type); }
  // Where rows first .. first + count lie.
  std::vector<RowRun> find_rows(uint32_t first, uint32_t count) const;
  uint64_t bytes() const { return static_cast<uint64_t>(rows) * row_bytes(type, cols); }
};

struct Vector {
  std::string name;
  std::vector<float> values;
};

enum class MatrixId : uint32_t {};
enum class VectorId : uint32_t {};
constexpr MatrixId kNoMatrix{~0u};
constexpr VectorId kNoVector{~0u};

struct WeightTable {
  std::vector<Matrix> matrices;
  std::vector<Vector> vectors;
  bool mapped = false;  // all runs lie in mapped files: what has been copied can be let go (base/file.h)

  const Matrix& operator[](MatrixId id) const { return matrices[static_cast<size_t>(id)]; }
  const Vector& operator[](VectorId id) const { return vectors[static_cast<size_t>(id)]; }
};

}  // namespace teapot::plan
