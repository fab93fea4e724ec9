#include "cpu/ops/binder.h"

#include <algorithm>
#include <cstring>

#include "cpu/kernels/tiles.h"
#include "cpu/pack_tiles.h"

namespace teapot::cpu {
namespace {

// Bytes of a tile: a worker's stream must be long, since the processor's prefetcher starts anew with each. Measured with one token on two
// cores of Zen 4: 64 KiB 26.4 ms, 256 KiB 21.9 ms, 1 MiB 20.2 ms; the claims let a slow core take fewer all the same.
constexpr size_t kTileBytes = 1u << 20;
// Claims a worker should get of a matrix, so that a slow one can leave some to the others.
constexpr size_t kTilesPerWorker = 8;

}  // namespace

void QuantizedRows::write(const Step& step, size_t row, size_t first, const float* x, size_t cols) const {
  int8_t* const to = q.row(step, row);
  float* const scale = scales.row(step, row);
  int32_t* const sum = sums.row(step, row);
  float* const total = totals.row(step, row);
  step.kernels.quantize(x, cols, to + first, scale + first / kQuantBlock, sum + first / (kQuantBlock / 2));
  for (size_t b = first / kQuantBlock; b < (first + cols) / kQuantBlock; ++b) {
    total[b] = scale[b] * static_cast<float>(sum[2 * b] + sum[2 * b + 1]);
  }
  const size_t end = first + cols;
  if (end != q.cols || end == q.stride) return;
  std::memset(to + end, 0, q.stride - end);
  std::memset(scale + end / kQuantBlock, 0, (scales.stride - end / kQuantBlock) * sizeof(float));
  std::memset(total + end / kQuantBlock, 0, (totals.stride - end / kQuantBlock) * sizeof(float));
  std::memset(sum + end / (kQuantBlock / 2), 0, (sums.stride - end / (kQuantBlock / 2)) * sizeof(int32_t));
}

Activations ActivationRows::at(const Step& step, size_t first_row) const {
  if (!int8) return {f32.row(step, first_row), nullptr, nullptr, nullptr, f32.stride};
  return {f32.row(step, first_row),
          quantized.q.row(step, first_row),
          quantized.scales.row(step, first_row),
          quantized.sums.row(step, first_row),
          f32.stride,
          quantized.totals.row(step, first_row)};
}

Binder::Binder(const plan::Plan& plan, const Environment& environment, Constants& constants)
    : plan_(plan), environment_(environment), constants_(constants), rows_(plan.shape.rows) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto id = static_cast<plan::BufferId>(i);
    offsets_.push_back(buffer_bytes_);
    buffer_bytes_ = align_up(buffer_bytes_ + rows_ * stride(id) * sizeof(float));
    if (plan.buffers[i].dtype == plan::DType::kF32 && cols(id) != stride(id)) padded_.push_back(f32(id));
  }
}

size_t Binder::take(size_t bytes) {
  const size_t offset = buffer_bytes_ + op_bytes_;
  op_bytes_ = align_up(op_bytes_ + bytes);
  peak_op_bytes_ = std::max(peak_op_bytes_, op_bytes_);
  return offset;
}

size_t Binder::tile_rows(const plan::Matrix& matrix) const {
  const size_t by_bytes = kTileBytes / row_bytes(matrix.type, matrix.cols);
  const size_t by_workers = matrix.rows / (kTilesPerWorker * environment_.workers);
  return std::clamp<size_t>(std::min(by_bytes, by_workers) / kQuantBlock * kQuantBlock, kQuantBlock, 32 * kQuantBlock);
}

Linear Binder::linear_f32(plan::MatrixId id) const {
  if (id == plan::kNoMatrix) return {};
  const plan::Matrix& m = matrix(id);
  const PackedWeights& weights = environment_.weights;
  const auto& kernels = weights.tiled(id) ? environment_.kernels.tiled_f32 : environment_.kernels.matmul_f32;
  return {weights.matrix(id),
          m.rows,
          m.cols,
          kernels[static_cast<size_t>(m.type)],
          false,
          tile_rows(m),
          weights.tiled(id) ? tile_bytes(m.type, m.cols) / kTileRows : row_bytes(m.type, m.cols)};
}

Linear Binder::linear(plan::MatrixId id) const {
  Linear result = linear_f32(id);
  if (!result || !environment_.int8_activations) return result;
  const auto& kernels = environment_.weights.tiled(id) ? environment_.kernels.tiled_q8 : environment_.kernels.matmul_q8;
  if (const MatmulFn q8 = kernels[static_cast<size_t>(matrix(id).type)]) {
    result.matmul = q8;
    result.int8 = true;
  }
  return result;
}

ActivationRows Binder::activations(ScratchRows<float> f32, size_t rows, bool int8) {
  ActivationRows result{f32, {}, int8};
  if (int8) {
    // One stride for all forms, as the kernels want it.
    result.quantized.q = {take(rows * f32.stride), f32.stride, f32.cols};
    result.quantized.scales = {take(rows * f32.stride / kQuantBlock * sizeof(float)), f32.stride / kQuantBlock, f32.cols / kQuantBlock};
    result.quantized.sums = {take(rows * f32.stride / (kQuantBlock / 2) * sizeof(int32_t)), f32.stride / (kQuantBlock / 2),
                             f32.cols / (kQuantBlock / 2)};
    result.quantized.totals = {take(rows * f32.stride / kQuantBlock * sizeof(float)), f32.stride / kQuantBlock, f32.cols / kQuantBlock};
  }
  return result;
}

}  // namespace teapot::cpu
