// Resolves what an op of a plan names (buffers, matrices, vectors) into what it uses when it runs, and lays out scratch memory.
#pragma once

#include <vector>

#include "cpu/ops/constants.h"
#include "cpu/ops/levers.h"
#include "cpu/ops/step.h"
#include "cpu/packed_weights.h"
#include "plan/plan.h"

namespace teapot::cpu {

// Rows begin at multiples of so many elements (Activations in kernels.h).
constexpr size_t kRowElements = 64;

// A matrix with the kernel that multiplies it.
struct Linear {
  const unsigned char* weights = nullptr;
  size_t rows = 0;
  size_t cols = 0;
  MatmulFn matmul = nullptr;
  bool int8 = false;     // reads the int8 form of the activations, else f32
  size_t tile_rows = 1;  // of a claim; a multiple of 32, so that a tile's results can be rounded to int8 on their own

  size_t row_bytes = 0;  // on average: tiles hold 16 rows

  size_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  // Where the row's bytes begin, to a tile of 16 exactly.
  const unsigned char* at(size_t row) const { return weights + row * row_bytes; }
  explicit operator bool() const { return weights != nullptr; }
};

// The int8 form of rows of activations.
struct QuantizedRows {
  ScratchRows<int8_t> q;
  ScratchRows<float> scales;
  ScratchRows<int32_t> sums;
  ScratchRows<float> totals;

  // Rounds the columns [first, first + cols) of a row; x is their first. first: a multiple of 32.
  void write(const Step& step, size_t row, size_t first, const float* x, size_t cols) const;
};

// Rows of activations with the forms that their readers want.
struct ActivationRows {
  ScratchRows<float> f32;
  QuantizedRows quantized;
  bool int8 = false;  // `quantized` is there

  Activations at(const Step& step, size_t first_row = 0) const;
  // Makes the int8 form of a whole row, if anybody reads it.
  void quantize(const Step& step, size_t row) const {
    if (int8) quantized.write(step, row, 0, f32.row(step, row), f32.cols);
  }
};

class Binder {
 public:
  struct Environment {
    const PackedWeights& weights;
    const plan::StateLayout& layout;
    const KernelTable& kernels;
    bool int8_activations;
    size_t workers;
    OpLevers levers;
  };

  // All must outlive the binder.
  Binder(const plan::Plan& plan, const Environment& environment, Constants& constants);

  const Environment& environment() const { return environment_; }
  Constants& constants() const { return constants_; }
  const plan::StateLayout& layout() const { return environment_.layout; }
  size_t rows() const { return rows_; }

  ScratchRows<float> f32(plan::BufferId id) const { return {offsets_[static_cast<size_t>(id)], stride(id), cols(id)}; }
  ScratchRows<int32_t> i32(plan::BufferId id) const { return {offsets_[static_cast<size_t>(id)], stride(id), cols(id)}; }
  const float* vector(plan::VectorId id) const { return environment_.weights.vector(id); }
  size_t vector_size(plan::VectorId id) const { return environment_.weights.table()[id].values.size(); }
  const plan::Matrix& matrix(plan::MatrixId id) const { return environment_.weights.table()[id]; }

  // An absent matrix gives an empty Linear.
  Linear linear(plan::MatrixId id) const;
  // The same with f32 activations whatever its type: routers.
  Linear linear_f32(plan::MatrixId id) const;

  // Scratch of the op being bound; the next op (after begin_op) may use the same memory.
  void begin_op() { op_bytes_ = 0; }
  template <class T>
  ScratchRows<T> scratch(size_t rows, size_t cols, size_t row_elements = kRowElements) {
    const size_t stride = align_up(cols, row_elements);
    return {take(rows * stride * sizeof(T)), stride, cols};
  }
  ActivationRows activations(ScratchRows<float> f32, size_t rows, bool int8);

  // Scratch of each worker, within one op and one item.
  void need_worker_bytes(size_t bytes) { worker_bytes_ = std::max(worker_bytes_, align_up(bytes)); }

  size_t scratch_bytes() const { return buffer_bytes_ + peak_op_bytes_; }
  size_t worker_bytes() const { return worker_bytes_; }
  // Buffers whose rows end in padding that must be zero.
  const std::vector<ScratchRows<float>>& padded() const { return padded_; }

 private:
  size_t cols(plan::BufferId id) const { return plan_.buffers[static_cast<size_t>(id)].cols; }
  size_t stride(plan::BufferId id) const { return align_up(cols(id), kRowElements); }
  size_t take(size_t bytes);
  size_t tile_rows(const plan::Matrix& matrix) const;

  const plan::Plan& plan_;
  const Environment& environment_;
  Constants& constants_;
  size_t rows_;
  std::vector<size_t> offsets_;  // [buffers]
  std::vector<ScratchRows<float>> padded_;
  size_t buffer_bytes_ = 0;
  size_t op_bytes_ = 0;
  size_t peak_op_bytes_ = 0;
  size_t worker_bytes_ = 0;
};

}  // namespace teapot::cpu
