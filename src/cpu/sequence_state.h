// The state of one sequence: KV cache of the attention layers, convolution window and recurrent state of the GDN layers (spec 3.4, 3.5).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/arena.h"
#include "cpu/kernels/kernels.h"
#include "plan/backend.h"

namespace teapot::cpu {

constexpr size_t kMaxConvKernel = 16;  // checked when a layout is taken in; models have 4

constexpr size_t kv_bytes(KvType type) { return type == kKvF32 ? 4 : 2; }  // of one element

class SequenceState {
 public:
  // Room for `tokens` positions: reserved now, taken from the system as positions are written.
  static Result<SequenceState> open(const plan::StateLayout& layout, KvType type, uint32_t tokens, Pages pages,
                                    bool bf16_recurrent = false);

  // What open() reserves; of it, what is in use before the first and after `tokens` positions.
  static uint64_t bytes(const plan::StateLayout& layout, KvType type, uint32_t tokens, bool bf16_recurrent = false);

  uint32_t capacity() const { return capacity_; }    // positions
  uint32_t committed() const { return committed_; }  // positions that hold tokens
  void commit(uint32_t tokens) { committed_ += tokens; }

  std::byte* keys(uint32_t layer) const { return kv_ + (2 * layer) * kv_layer_bytes_; }        // [capacity, kv_heads*head_dim] kv type
  std::byte* values(uint32_t layer) const { return kv_ + (2 * layer + 1) * kv_layer_bytes_; }  // [capacity, kv_heads*head_dim] kv type
  bool bf16_recurrent() const { return bf16_recurrent_; }
  // [value_heads, dk, dv], the one or the other.
  float* recurrent(uint32_t layer) const { return reinterpret_cast<float*>(recurrent_) + layer * recurrent_stride_; }
  uint16_t* recurrent_bf16(uint32_t layer) const { return reinterpret_cast<uint16_t*>(recurrent_) + layer * recurrent_stride_; }

  // [conv_kernel-1, channels], oldest first: the raw inputs before the next token. A step reads this window and writes the next one,
  // so that threads may do both at a time; flip_window makes the next one current.
  const float* window(uint32_t layer) const { return windows_ + (2 * layer + current_window_[layer]) * window_stride_; }
  float* next_window(uint32_t layer) const { return windows_ + (2 * layer + 1 - current_window_[layer]) * window_stride_; }
  void flip_window(uint32_t layer) { current_window_[layer] ^= 1; }

  plan::StateSnapshot snapshot(const plan::StateLayout& layout, uint32_t layer) const;

 private:
  Arena arena_;
  uint32_t capacity_ = 0;
  uint32_t committed_ = 0;
  std::byte* recurrent_ = nullptr;
  bool bf16_recurrent_ = false;
  float* windows_ = nullptr;
  std::byte* kv_ = nullptr;
  uint64_t recurrent_stride_ = 0;        // elements of a layer
  uint64_t window_stride_ = 0;           // floats of one window
  uint64_t kv_layer_bytes_ = 0;          // of the keys, and of the values
  std::vector<uint8_t> current_window_;  // [gdn layers]
};

}  // namespace teapot::cpu
