#include "cpu/sequence_state.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "base/half.h"

namespace teapot::cpu {

// Recurrent states, windows, logs, hidden states; in a page layer by layer, keys and values.
StateSizes::StateSizes(const plan::StateLayout& layout, KvType kv_type, bool bf16)
    : bf16_recurrent(bf16),
      gdn_layers(layout.gdn_layers),
      recurrent_stride(align_up(uint64_t{layout.value_heads} * layout.dk * layout.dv, kAlignment / sizeof(uint16_t))),
      verify_rows(layout.verify_rows),
      window_row(layout.conv_channels()),
      window_stride(align_up((uint64_t{layout.conv_kernel == 0 ? 0 : layout.conv_kernel - 1} + layout.verify_rows) * window_row,
                             kAlignment / sizeof(float))),
      windows_at(layout.gdn_layers * recurrent_stride * (bf16 ? sizeof(uint16_t) : sizeof(float))),
      log(layout),
      log_stride(log.floats()),
      logs_at(windows_at + layout.gdn_layers * 2 * window_stride * sizeof(float)),
      hidden_stride(align_up(layout.hidden, kAlignment / sizeof(float))),
      hidden_at(logs_at + layout.gdn_layers * 2 * log_stride * sizeof(float)),
      own_bytes(hidden_at + (hidden_stride == 0 ? 0 : plan::kHiddenRows + 1) * hidden_stride * sizeof(float)),
      kv_row_bytes(uint64_t{layout.kv_heads} * layout.head_dim * kv_bytes(kv_type)),
      kv_layer_bytes(align_up(plan::kPagePositions * kv_row_bytes)),
      page_bytes(layout.kv_layers() * 2 * kv_layer_bytes) {}

SequenceState::SequenceState(const StateSizes& sizes, Arena arena, uint32_t capacity)
    : sizes_(&sizes), arena_(std::move(arena)), capacity_(capacity), current_window_(sizes.gdn_layers) {
  table_.reserve(StateSizes::pages_of(capacity));
  memory_.reserve(StateSizes::pages_of(capacity));
  hidden_positions_.fill(std::numeric_limits<uint32_t>::max());
}

void SequenceState::release(KvPages& pages) { drop_pages_beyond(0, pages); }

void SequenceState::drop_pages_beyond(uint32_t positions, KvPages& pages) {
  while (table_.size() > StateSizes::pages_of(positions)) {
    pages.drop(table_.back());
    table_.pop_back();
    memory_.pop_back();
  }
}

void SequenceState::commit(plan::PlanKind kind, const plan::SequenceRows& rows) {
  switch (kind) {
    case plan::PlanKind::kDraft:
      draft_end_ = rows.position + rows.rows;
      return;
    case plan::PlanKind::kMtpState:
      mtp_committed_ += rows.rows;
      return;
    case plan::PlanKind::kModelMtp:
    case plan::PlanKind::kModel:
      break;
  }
  pending_ = 0;
  window_begin_ = 0;
  const bool mtp = kind == plan::PlanKind::kModelMtp;
  if (rows.kind == plan::StepKind::kVerify) {
    unsettled_ = rows.rows;
    unsettled_mtp_ = mtp;
    current_log_ ^= 1;
    return;
  }
  committed_ += rows.rows;
  draft_end_ = committed_;
  if (mtp) mtp_committed_ = committed_;
}

void SequenceState::accept(uint32_t tokens) {
  assert(tokens > 0 && tokens <= unsettled_);
  committed_ += tokens;
  draft_end_ = committed_;
  if (unsettled_mtp_) mtp_committed_ = committed_;
  pending_ = tokens;
  window_begin_ = tokens;
  unsettled_ = 0;
}

void SequenceState::seal(KvPages& pages) {
  assert(unsettled_ == 0);
  capacity_ = committed_;
  drop_pages_beyond(committed_, pages);
}

void SequenceState::keep_hidden(uint32_t position, std::span<const float> values) {
  std::ranges::copy(values, hidden_row(position % plan::kHiddenRows));
  hidden_positions_[position % plan::kHiddenRows] = position;
}

void SequenceState::keep_draft_hidden(std::span<const float> values) { std::ranges::copy(values, hidden_row(plan::kHiddenRows)); }

Status SequenceState::reach(uint32_t positions, KvPages& pages) {
  if (sizes_->page_bytes == 0) return {};
  while (table_.size() < StateSizes::pages_of(positions)) {
    TEAPOT_TRY(const plan::PageId page, pages.take());
    table_.push_back(page);
    memory_.push_back(pages.at(page));
  }
  return {};
}

Status SequenceState::follow(const SequenceState& from, uint32_t position, KvPages& pages) {
  assert(table_.empty() && position <= from.committed_ && position <= capacity_);
  mtp_committed_ = std::min(from.mtp_committed_, position);
  if (sizes_->page_bytes != 0) {
    // Where the MTP layer is behind, it will write to each holder's page: with the same bits, but maybe at the same time.
    const uint32_t written = sizes_->hidden_stride == 0 ? position : mtp_committed_;
    for (size_t i = 0; i < written / plan::kPagePositions; ++i) {
      pages.share(from.table_[i]);
      table_.push_back(from.table_[i]);
      memory_.push_back(from.memory_[i]);
    }
    const size_t shared = table_.size();
    TEAPOT_CHECK(reach(position, pages));
    for (size_t page = shared; page < table_.size(); ++page) {
      const uint64_t rows = std::min<uint64_t>(plan::kPagePositions, position - page * plan::kPagePositions);
      for (uint64_t part = 0; part * sizes_->kv_layer_bytes < sizes_->page_bytes; ++part) {
        std::memcpy(memory_[page] + part * sizes_->kv_layer_bytes, from.memory_[page] + part * sizes_->kv_layer_bytes,
                    rows * sizes_->kv_row_bytes);
      }
    }
  }
  current_window_ = from.current_window_;
  window_begin_ = from.window_begin_;
  current_log_ = from.current_log_;
  pending_ = from.pending_;
  hidden_positions_ = from.hidden_positions_;
  committed_ = draft_end_ = position;
  return {};
}

plan::StateSnapshot SequenceState::snapshot(const plan::StateLayout& layout, const KernelTable& kernels, uint32_t layer) const {
  const size_t head_floats = size_t{layout.dk} * layout.dv, recurrent_floats = layout.value_heads * head_floats;
  const size_t window_floats = size_t{layout.conv_kernel - 1} * layout.conv_channels();
  std::vector<float> values(recurrent_floats);
  for (size_t i = 0; i < recurrent_floats; ++i) {
    values[i] = bf16_recurrent() ? bf16_to_f32(recurrent_bf16(layer)[i]) : recurrent(layer)[i];
  }
  for (uint32_t head = 0; pending_ > 0 && head < layout.value_heads; ++head) {
    kernels.gdn_head({.dk = layout.dk, .dv = layout.dv, .pending = pending_log(layer, head)}, &values[head * head_floats], nullptr);
  }
  return {std::move(values), std::vector<float>(window(layer), window(layer) + window_floats)};
}

}  // namespace teapot::cpu
