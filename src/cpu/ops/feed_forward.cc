#include "cpu/ops/feed_forward.h"

#include <algorithm>

#include "cpu/ops/fetch.h"

namespace teapot::cpu {

void GatedUnit::expand(const Step& step, const Activations& x, const uint32_t* token_index, size_t tokens, size_t first, size_t last,
                       const ActivationRows& out, const uint32_t* out_index, size_t column, size_t worker) const {
  const size_t count = last - first;
  float* const gates = reinterpret_cast<float*>(step.worker(worker));  // [tokens, count]
  float* const ups = gates + tokens * count;                           // [tokens, count]
  gate.matmul(gate.weights, gate.cols, first, last, x, token_index, tokens, gates, count);
  up.matmul(up.weights, up.cols, first, last, x, token_index, tokens, ups, count);
  for (size_t t = 0; t < tokens; ++t) {
    const size_t row = out_index == nullptr ? t : out_index[t];
    float* const to = out.f32.row(step, row) + column;
    step.kernels.silu_mul(gates + t * count, ups + t * count, count, to);
    if (column + count == out.f32.cols) out.f32.clear_padding(step, row);
    // A tile is a whole number of int8 blocks: rounding it alone gives the bits of rounding the row.
    if (out.int8) out.quantized.write(step, row, column, to, count);
  }
}

void prefetch_rows(const Linear& linear, size_t first, size_t rows) {
  constexpr size_t kBytes = 6144;  // as far as kernels look ahead
  const unsigned char* const begin = linear.at(first);
  fetch(begin, std::min(kBytes, static_cast<size_t>(linear.at(first + rows) - begin)));
}

size_t project_residual_worker_bytes(const Linear& linear, size_t rows) { return rows * linear.tile_rows * sizeof(float); }

void project_residual(Worker& worker, const char* phase, const Linear& linear, const ActivationRows& in,
                      const ScratchRows<float>& residual) {
  const Step& step = worker.step();
  const Activations x = in.at(step);
  worker.phase(phase, linear.tiles(), [&](size_t tile) {
    const size_t first = tile * linear.tile_rows;
    const size_t last = std::min(first + linear.tile_rows, linear.rows);
    float* const y = reinterpret_cast<float*>(worker.scratch());  // [rows, last - first]
    linear.matmul(linear.weights, linear.cols, first, last, x, nullptr, step.rows(), y, last - first);
    for (size_t row = 0; row < step.rows(); ++row) {
      step.kernels.add_scaled(y + row * (last - first), 1.0f, last - first, residual.row(step, row) + first);
    }
  });
}

void normalise_row(const Step& step, size_t row, const ScratchRows<float>& x, const float* norm, float eps, const ActivationRows& out) {
  step.kernels.rms_norm(x.row(step, row), norm, eps, x.cols, out.f32.row(step, row));
  out.f32.clear_padding(step, row);
  out.quantize(step, row);
}

}  // namespace teapot::cpu
