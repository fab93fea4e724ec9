// What an op sees while a step runs, and the references into scratch memory that it was given when its plan was prepared.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/sequence_state.h"
#include "cpu/thread_team.h"
#include "plan/backend.h"

namespace teapot::cpu {

// Where a row of the step belongs.
struct RowPlace {
  SequenceState* state;
  uint32_t position;
};

struct Step {
  const KernelTable& kernels;
  ThreadTeam& team;
  std::byte* scratch;         // of the plan: its buffers, and what its ops keep between their phases
  std::byte* worker_scratch;  // [workers] pieces of worker_stride bytes
  size_t worker_stride;
  float* logits;  // [rows that return something, vocab]
  KvType kv_type;

  const plan::StepPacket& packet;
  std::span<SequenceState* const> states;  // [packet.sequences]
  std::span<const RowPlace> places;        // [rows]
  plan::StepResult& result;                // result.rows is set before the first op
  std::atomic<uint64_t>& saturated;        // f16 values that did not fit the KV cache

  size_t rows() const { return places.size(); }
  std::byte* worker(size_t index) const { return worker_scratch + index * worker_stride; }

  // fn(row, worker) for all rows: by the caller alone where the work (floats touched) is not worth waking others. Rows do not depend
  // on each other, so who computes them changes no bit.
  template <class F>
  void for_rows(size_t count, size_t floats_per_row, F&& fn) {
    constexpr size_t kWorthForking = 16384;  // a fork and join costs about as much as this many floats of arithmetic
    if (count == 1 || count * floats_per_row < kWorthForking) {
      for (size_t row = 0; row < count; ++row) fn(row, size_t{0});
    } else {
      team.parallel_for(count, fn);
    }
  }
};

// Rows of T in scratch; a row takes `stride` elements, of which `cols` mean something and the rest are zero.
template <class T>
struct ScratchRows {
  size_t offset = 0;  // bytes
  size_t stride = 0;
  size_t cols = 0;

  T* row(const Step& step, size_t index) const { return reinterpret_cast<T*>(step.scratch + offset) + index * stride; }
  T* data(const Step& step) const { return row(step, 0); }
  void clear_padding(const Step& step, size_t index) const { std::fill(row(step, index) + cols, row(step, index) + stride, T{}); }
};

}  // namespace teapot::cpu
