// The state of one sequence: convolution window and recurrent state of the GDN layers, final hidden states for the MTP layer, and which
// pages hold its KV cache (spec 3.4, 3.5, 4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/arena.h"
#include "cpu/delta_log.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kv_pages.h"
#include "plan/backend.h"

namespace teapot::cpu {

constexpr size_t kMaxConvKernel = 16;    // checked when a layout is taken in; models have 4
constexpr uint32_t kMaxVerifyRows = 32;  // likewise

static_assert(plan::kPagePositions == kKvBlock, "an attention partial reads one page");

constexpr size_t kv_bytes(KvType type) { return type == kKvF32 ? 4 : 2; }  // of one element

// What states of one model are like in memory.
struct StateSizes {
  StateSizes(const plan::StateLayout& layout, KvType kv_type, bool bf16_recurrent);

  bool bf16_recurrent;
  uint32_t gdn_layers;
  uint64_t recurrent_stride;  // elements of a layer
  uint32_t verify_rows;       // of a sequence in a kVerify step, at most
  uint64_t window_row;        // floats of a token in a window
  uint64_t window_stride;     // floats of one window
  uint64_t windows_at;        // bytes
  DeltaLog log;               // what the rows of one are like
  uint64_t log_stride;        // floats of one log
  uint64_t logs_at;           // bytes
  uint64_t hidden_stride;     // floats of a final hidden state; 0: none is kept
  uint64_t hidden_at;         // bytes: kHiddenRows of them, and that of a draft
  uint64_t own_bytes;         // of a sequence, beside its pages
  uint64_t kv_row_bytes;      // of one position's keys in a layer, and of its values
  uint64_t kv_layer_bytes;    // of a page's keys in a layer, and of its values
  uint64_t page_bytes;        // 0: no attention

  static size_t pages_of(uint32_t tokens) { return (size_t{tokens} + plan::kPagePositions - 1) / plan::kPagePositions; }
  uint64_t state_bytes(uint32_t tokens) const { return own_bytes + pages_of(tokens) * page_bytes; }
};

class SequenceState {
 public:
  // Own memory of sizes.own_bytes, all zero, or of any content that is to be copied over. Pages come with the positions.
  SequenceState(const StateSizes& sizes, Arena arena, uint32_t capacity);

  // Before the state goes: its pages go back.
  void release(KvPages& pages);

  uint32_t capacity() const { return capacity_; }            // positions
  uint32_t committed() const { return committed_; }          // positions that hold tokens
  uint32_t mtp_committed() const { return mtp_committed_; }  // of them, those that the MTP layer has seen
  uint32_t draft_end() const { return draft_end_; }          // one past the last draft since the last commit, or the committed tokens

  // After a step of a plan of that kind: the rows are part of the state, as far as it moves. Those of a kVerify step wait for accept.
  void commit(plan::PlanKind kind, const plan::SequenceRows& rows);
  // The first `tokens` of those of the last kVerify step are committed: the recurrent states take them in with the next step.
  void accept(uint32_t tokens);
  uint32_t unsettled() const { return unsettled_; }  // rows of a kVerify step of which nobody has said yet how many hold
  uint32_t pending() const { return pending_; }      // committed tokens that the recurrent states lack

  // Its room is what it holds. Pages that only drafts took go back.
  void seal(KvPages& pages);
  std::span<const plan::PageId> pages() const { return table_; }

  // Pages for so many positions. kMemory leaves those that were had.
  Status reach(uint32_t positions, KvPages& pages);
  // As after the first `position` tokens of `from`, in a state that holds none: shares the full pages that nobody is going to write to any
  // more, copies the rest. The own memory is for the caller to copy.
  Status follow(const SequenceState& from, uint32_t position, KvPages& pages);

  // Position `position` of a layer: [kv_heads*head_dim] kv type; the following ones up to the end of its page lie behind it.
  std::byte* keys(uint32_t layer, uint32_t position) const { return row(2 * layer, position); }
  std::byte* values(uint32_t layer, uint32_t position) const { return row(2 * layer + 1, position); }

  bool bf16_recurrent() const { return sizes_->bf16_recurrent; }
  // [value_heads, dk, dv], the one or the other.
  float* recurrent(uint32_t layer) const { return reinterpret_cast<float*>(arena_.data()) + layer * sizes_->recurrent_stride; }
  uint16_t* recurrent_bf16(uint32_t layer) const { return reinterpret_cast<uint16_t*>(arena_.data()) + layer * sizes_->recurrent_stride; }

  // What the recurrent state lacks of a value head, and where a kVerify step keeps its rows of it.
  GdnLog pending_log(uint32_t layer, uint32_t head) const {
    const DeltaLog::Head log = sizes_->log.head(log_at(2 * layer + current_log_), head);
    return {log.k, log.delta, log.alpha, log.stride, pending_};
  }
  DeltaLog::Head next_log(uint32_t layer, uint32_t head) const { return sizes_->log.head(log_at(2 * layer + 1 - current_log_), head); }

  // [conv_kernel-1, channels], oldest first: the raw inputs before the next token. A step reads this window and writes the next one,
  // so that threads may do both at a time; flip_window makes the next one current. A kVerify step's begins before its rows and goes on
  // to the last of them.
  const float* window(uint32_t layer) const { return window_at(2 * layer + current_window_[layer]) + window_begin_ * sizes_->window_row; }
  float* next_window(uint32_t layer) const { return window_at(2 * layer + 1 - current_window_[layer]); }
  void flip_window(uint32_t layer) { current_window_[layer] ^= 1; }

  plan::StateSnapshot snapshot(const plan::StateLayout& layout, const KernelTable& kernels, uint32_t layer) const;

  // [hidden]. Of a committed position; null where it is gone: of what was run long before the sequence was forked.
  const float* hidden(uint32_t position) const {
    return hidden_positions_[position % plan::kHiddenRows] == position ? hidden_row(position % plan::kHiddenRows) : nullptr;
  }
  const float* draft_hidden() const { return hidden_row(plan::kHiddenRows); }
  void keep_hidden(uint32_t position, std::span<const float> values);
  void keep_draft_hidden(std::span<const float> values);

  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

 private:
  std::byte* row(uint32_t part, uint32_t position) const {
    return memory_[position / plan::kPagePositions] + part * sizes_->kv_layer_bytes +
           position % plan::kPagePositions * sizes_->kv_row_bytes;
  }
  float* window_at(uint32_t index) const {
    return reinterpret_cast<float*>(arena_.data() + sizes_->windows_at) + index * sizes_->window_stride;
  }
  float* log_at(uint32_t index) const { return reinterpret_cast<float*>(arena_.data() + sizes_->logs_at) + index * sizes_->log_stride; }
  float* hidden_row(uint32_t index) const {
    return reinterpret_cast<float*>(arena_.data() + sizes_->hidden_at) + index * sizes_->hidden_stride;
  }
  void drop_pages_beyond(uint32_t positions, KvPages& pages);

  const StateSizes* sizes_;
  Arena arena_;
  uint32_t capacity_;
  uint32_t committed_ = 0, mtp_committed_ = 0, draft_end_ = 0;
  uint32_t unsettled_ = 0, pending_ = 0;
  bool unsettled_mtp_ = false;                                // whether the MTP layer has seen the unsettled rows
  uint32_t window_begin_ = 0;                                 // of all layers' windows, in rows
  uint32_t current_log_ = 0;                                  // of two: pending rows are read while others are written
  std::array<uint32_t, plan::kHiddenRows> hidden_positions_;  // whose hidden states are kept
  std::vector<plan::PageId> table_;
  std::vector<std::byte*> memory_;       // [table]
  std::vector<uint8_t> current_window_;  // [gdn layers]
};

}  // namespace teapot::cpu
