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

// How the workers wait for pieces of work on rows (norms, rounding, routing) that stand between two phases.
enum class Sync : uint8_t {
  kOp,     // a barrier before and after them
  kLayer,  // the last to come to the barrier before them does them, if they are few
  kFlags   // the first to come share them out; an item that reads them waits for them, not for all workers
};

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
  float* logits;         // [rows that return something, vocab]
  plan::Candidate* top;  // [rows that return something, packet.top_k]
  KvType kv_type;
  Sync sync;

  const plan::StepPacket& packet;
  std::span<SequenceState* const> states;  // [packet.sequences]
  std::span<const RowPlace> places;        // [rows]
  plan::StepResult& result;                // result.rows is set before the first op
  std::atomic<uint64_t>& saturated;        // f16 values that did not fit the KV cache

  size_t rows() const { return places.size(); }
  std::byte* worker(size_t index) const { return worker_scratch + index * worker_stride; }

  // Whether work on rows (floats touched in each) is left to the last worker that comes to the barrier before it, while the others wait.
  bool folds(size_t count, size_t floats_per_row) const {
    const size_t floats = count * floats_per_row;
    if (floats == 0) return true;
    if (sync == Sync::kOp) return false;
    if (count == 1 || team.workers() == 1) return true;  // nothing to share out
    return sync == Sync::kLayer && count <= 8 && floats <= 8 * 8192;
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
