// Pieces of feed-forward layers that dense layers, routed and shared experts have in common (spec 3.7).
#pragma once

#include "cpu/ops/binder.h"
#include "cpu/ops/worker.h"

namespace teapot::cpu {

// silu(gate n) * (up n), by tiles of rows of both matrices.
struct GatedUnit {
  Linear gate, up;  // one type of activations each; equal rows and columns

  explicit operator bool() const { return static_cast<bool>(gate); }
  bool int8() const { return gate.int8 || up.int8; }

  // Worker scratch that expand() needs for so many tokens at a time.
  size_t worker_bytes(size_t tokens) const { return 2 * tokens * gate.tile_rows * sizeof(float); }

  // Rows [first, last) of the matrices for the tokens token_index[0..tokens) (null: 0, 1, ...) of x; last - first is at most a tile. The
  // result goes to the columns [column, ...) of the rows out_index[0..tokens) (null: 0, 1, ...) of `out`, rounded to int8 too if wanted.
  void expand(const Step& step, const Activations& x, const uint32_t* token_index, size_t tokens, size_t first, size_t last,
              const ActivationRows& out, const uint32_t* out_index, size_t column, size_t worker) const;
};

// Asks for the first bytes of `rows` rows from `first` on: of what this worker reads next, where its kernel could not know.
void prefetch_rows(const Linear& linear, size_t first, size_t rows);

// residual += W in for all rows of the step, as a phase of that name.
void project_residual(Worker& worker, const char* phase, const Linear& linear, const ActivationRows& in,
                      const ScratchRows<float>& residual);
// What project_residual needs of each worker.
size_t project_residual_worker_bytes(const Linear& linear, size_t rows);

// RMSNorm of a row, with the int8 form if somebody reads it.
void normalise_row(const Step& step, size_t row, const ScratchRows<float>& x, const float* norm, float eps, const ActivationRows& out);

}  // namespace teapot::cpu
