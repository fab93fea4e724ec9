#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/ops/ops.h"

namespace teapot::cpu {
namespace {

constexpr size_t kMaxPieces = 16;  // of a row: enough for as many workers, little enough to keep room for
constexpr size_t kMinPiecePositions = 4 * kKvBlock;
constexpr size_t kSplitRows = 16;  // more rows are work for all workers as they are
constexpr size_t kRowGroup = 8;    // of them: so many read a block of keys and values while it is in a worker's L2

bool splits(const plan::Attend& op, const Binder& binder) {
  if (op.q == plan::kNoBuffer) return false;
  const Attention attention = binder.environment().levers.attention;
  if (binder.rows() > kSplitRows || attention == Attention::kHead) return false;
  return attention == Attention::kSplit || binder.environment().workers > 1;
}

}  // namespace

AttendOp::AttendOp(const plan::Attend& op, Binder& binder)
    : op_(op),
      head_dim_(binder.layout().head_dim),
      kv_heads_(binder.layout().kv_heads),
      group_(op.heads / kv_heads_),
      queries_(op.q != plan::kNoBuffer),
      split_(splits(op, binder)),
      row_group_(binder.rows() > kSplitRows ? kRowGroup : 1),
      k_(binder.f32(op.k)),
      v_(binder.f32(op.v)),
      gated_(op.gate != plan::kNoBuffer),
      q_norm_(binder.vector(op.q_norm)),
      k_norm_(binder.vector(op.k_norm)),
      scale_(1.0f / std::sqrt(static_cast<float>(head_dim_))),
      inv_freq_(binder.constants().inverse_frequencies(op.rope_theta, op.rotary_dim)) {
  if (queries_) {
    q_ = binder.f32(op.q);
    out_ = binder.f32(op.out);
  }
  if (gated_) gate_ = binder.f32(op.gate);
  // Of a row: cos, sin, a normalised and a rotated head. Of a head: what the attention kernel asks for.
  binder.need_worker_bytes((op.rotary_dim + 2 * head_dim_) * sizeof(float));
  binder.need_worker_bytes((kAttendHeads * kKvBlock + (row_group_ + 1) * part_floats() + row_group_ * 2 * group_) * sizeof(float));
  if (split_) {
    pieces_ = binder.scratch<float>(binder.rows() * kv_heads_ * kMaxPieces, part_floats());
    left_ = binder.scratch<uint32_t>(binder.rows(), kv_heads_);
  }
}

AttendOp::Pieces AttendOp::pieces_of(size_t positions) {
  const size_t piece = std::max(kMinPiecePositions, std::bit_ceil((positions + kMaxPieces - 1) / kMaxPieces));
  return {piece, (positions + piece - 1) / piece};
}

void AttendOp::rotate(const float* x, const float* cos, const float* sin, float* out) const {
  const size_t half = op_.rotary_dim / 2;
  for (size_t j = 0; j < half; ++j) {
    out[j] = x[j] * cos[j] - x[j + half] * sin[j];
    out[j + half] = x[j + half] * cos[j] + x[j] * sin[j];
  }
  std::copy(x + op_.rotary_dim, x + head_dim_, out + op_.rotary_dim);
}

// Norms and rotates a row's heads: q in its buffer, k into the cache with v.
void AttendOp::begin_row(const Step& step, size_t row, size_t worker) const {
  const auto [state, position] = step.places[row];
  float* const cos = reinterpret_cast<float*>(step.worker(worker));
  const size_t half = op_.rotary_dim / 2;
  float* const sin = cos + half;
  float* const normed = sin + half;
  float* const rotated = normed + head_dim_;
  for (size_t j = 0; j < half; ++j) {
    const float angle = static_cast<float>(position) * inv_freq_[j];
    cos[j] = std::cos(angle);
    sin[j] = std::sin(angle);
  }
  for (size_t head = 0; queries_ && head < op_.heads; ++head) {
    float* const q = q_.row(step, row) + head * head_dim_;
    step.kernels.rms_norm(q, q_norm_, op_.eps, head_dim_, normed);
    rotate(normed, cos, sin, q);
  }
  const size_t width = kv_heads_ * head_dim_;
  const size_t element_bytes = kv_bytes(step.kv_type);
  std::byte* const keys = state->keys(op_.state_layer, position);
  std::byte* const values = state->values(op_.state_layer, position);
  const auto store = step.kernels.store_kv[step.kv_type];
  size_t saturated = store(v_.row(step, row), width, values);
  for (size_t head = 0; head < kv_heads_; ++head) {
    step.kernels.rms_norm(k_.row(step, row) + head * head_dim_, k_norm_, op_.eps, head_dim_, normed);
    rotate(normed, cos, sin, rotated);
    saturated += store(rotated, head_dim_, keys + head * head_dim_ * element_bytes);
  }
  if (saturated != 0) step.saturated.fetch_add(saturated, std::memory_order_relaxed);
  if (split_) std::fill_n(left_.row(step, row), kv_heads_, static_cast<uint32_t>(pieces_of(position + 1).count));
}

namespace {

AttendPart part_at(float* memory, size_t heads) { return {memory, memory + heads, memory + 2 * heads}; }

void clear(const AttendPart& part, size_t heads, size_t head_dim) {
  std::fill_n(part.max, heads, -std::numeric_limits<float>::infinity());
  std::fill_n(part.sum, heads, 0.0f);
  std::fill_n(part.out, heads * head_dim, 0.0f);
}

void join(const KernelTable& kernels, const AttendPart& part, size_t heads, size_t head_dim, const AttendPart& sum) {
  for (size_t h = 0; h < heads; ++h) {
    kernels.attend_join(part.out + h * head_dim, part.max[h], part.sum[h], head_dim, sum.out + h * head_dim, sum.max + h, sum.sum + h);
  }
}

}  // namespace

AttendPart AttendOp::stored(const Step& step, size_t row, size_t kv_head, size_t piece) const {
  return part_at(pieces_.row(step, (row * kv_heads_ + kv_head) * kMaxPieces + piece), group_);
}

void AttendOp::attend_block(const Step& step, size_t row, size_t kv_head, size_t at, size_t end, float* scratch,
                            const AttendPart& out) const {
  SequenceState& state = *step.places[row].state;
  // Blocks lie where they would without a first position, so that a row's sums keep their order.
  const size_t from = std::max<size_t>(at, op_.first_position), to = std::min(at + kKvBlock, end);
  if (from >= to) return;
  const size_t stride = kv_heads_ * head_dim_, offset = kv_head * head_dim_ * kv_bytes(step.kv_type);
  const AttendPart block = part_at(scratch + kAttendHeads * kKvBlock, group_);
  step.kernels.attend_block[step.kv_type](
      {q_.row(step, row) + kv_head * group_ * head_dim_, group_, head_dim_,
       state.keys(op_.state_layer, static_cast<uint32_t>(from)) + offset,
       state.values(op_.state_layer, static_cast<uint32_t>(from)) + offset, to - from, stride, scale_, scratch},
      block);
  join(step.kernels, block, group_, head_dim_, out);
}

void AttendOp::finish_heads(const Step& step, size_t row, size_t kv_head, const float* sums) const {
  for (size_t h = 0; h < group_; ++h) {
    const size_t at = (kv_head * group_ + h) * head_dim_;
    float* const out = out_.row(step, row) + at;
    // A row before the first position attends to nothing.
    const float inverse = step.places[row].position < op_.first_position ? 0.0f : 1.0f / sums[h];
    for (size_t i = 0; i < head_dim_; ++i) out[i] *= inverse;
    if (gated_) step.kernels.sigmoid_mul(out, gate_.row(step, row) + at, head_dim_, out);
  }
}

// Block by block, each with all rows [first, last) that see it; of a row in the order of its pieces.
void AttendOp::attend_rows(const Step& step, size_t first, size_t last, size_t kv_head, size_t worker) const {
  float* const scratch = reinterpret_cast<float*>(step.worker(worker));
  float* const memory = scratch + kAttendHeads * kKvBlock + part_floats();
  // Of a row: the piece that it is in, and the running maxima and sums, whose outputs stand in their place.
  const auto piece_of = [&](size_t row) { return part_at(memory + (row - first) * (part_floats() + 2 * group_), group_); };
  const auto sum_of = [&](size_t row) {
    float* const sums = piece_of(row).max + part_floats();
    return AttendPart{sums, sums + group_, out_.row(step, row) + kv_head * group_ * head_dim_};
  };
  size_t end = 0;
  for (size_t row = first; row < last; ++row) {
    clear(piece_of(row), group_, head_dim_);
    clear(sum_of(row), group_, head_dim_);
    end = std::max(end, size_t{step.places[row].position} + 1);
  }
  for (size_t at = 0; at < end; at += kKvBlock) {
    for (size_t row = first; row < last; ++row) {
      const size_t positions = size_t{step.places[row].position} + 1, to = std::min(at + kKvBlock, positions);
      if (at >= positions) continue;
      const AttendPart piece = piece_of(row);
      attend_block(step, row, kv_head, at, positions, scratch, piece);
      if (to != positions && to % pieces_of(positions).positions != 0) continue;
      join(step.kernels, piece, group_, head_dim_, sum_of(row));
      clear(piece, group_, head_dim_);
    }
  }
  for (size_t row = first; row < last; ++row) finish_heads(step, row, kv_head, sum_of(row).sum);
}

void AttendOp::attend_split(const Step& step, size_t row, size_t kv_head, size_t piece, size_t worker) const {
  float* const scratch = reinterpret_cast<float*>(step.worker(worker));
  const AttendPart part = stored(step, row, kv_head, piece);
  const size_t positions = size_t{step.places[row].position} + 1, length = pieces_of(positions).positions;
  const size_t end = std::min((piece + 1) * length, positions);
  clear(part, group_, head_dim_);
  for (size_t at = piece * length; at < end; at += kKvBlock) attend_block(step, row, kv_head, at, end, scratch, part);
  if (std::atomic_ref(left_.row(step, row)[kv_head]).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const AttendPart sum{scratch, scratch + group_, out_.row(step, row) + kv_head * group_ * head_dim_};
  clear(sum, group_, head_dim_);
  const size_t count = pieces_of(size_t{step.places[row].position} + 1).count;
  for (size_t i = 0; i < count; ++i) join(step.kernels, stored(step, row, kv_head, i), group_, head_dim_, sum);
  finish_heads(step, row, kv_head, sum.sum);
}

void AttendOp::run(Worker& worker) const {
  const Step& step = worker.step();
  const size_t rows = step.rows();
  if (!split_) {
    // KV head by KV head: rows that follow each other read the same keys and values.
    const size_t groups = (rows + row_group_ - 1) / row_group_;
    worker.phase("attend", queries_ ? kv_heads_ * groups : 0, [&](size_t item) {
      const size_t first = item % groups * row_group_;
      attend_rows(step, first, std::min(first + row_group_, rows), item / groups, worker.index());
    });
    return;
  }
  size_t items = 0;
  for (const RowPlace& place : step.places) items += kv_heads_ * pieces_of(size_t{place.position} + 1).count;
  worker.phase("attend", items, [&](size_t item) {
    size_t row = 0;
    for (;; ++row) {
      const size_t of_row = kv_heads_ * pieces_of(size_t{step.places[row].position} + 1).count;
      if (item < of_row) break;
      item -= of_row;
    }
    attend_split(step, row, item % kv_heads_, item / kv_heads_, worker.index());
  });
}

}  // namespace teapot::cpu
