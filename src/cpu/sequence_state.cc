#include "cpu/sequence_state.h"

#include "base/half.h"

namespace teapot::cpu {
namespace {

// The order in the arena: recurrent states, windows, KV. What is in use from the first token on lies together.
struct Sizes {
  uint64_t recurrent_stride;  // elements
  uint64_t window_stride;     // floats
  uint64_t kv_layer_bytes;
  uint64_t windows_at, kv_at, total;  // bytes

  Sizes(const plan::StateLayout& layout, KvType type, uint32_t tokens, bool bf16_recurrent)
      : recurrent_stride(align_up(uint64_t{layout.value_heads} * layout.dk * layout.dv, kAlignment / sizeof(uint16_t))),
        window_stride(
            align_up(uint64_t{layout.conv_kernel == 0 ? 0 : layout.conv_kernel - 1} * layout.conv_channels(), kAlignment / sizeof(float))),
        kv_layer_bytes(align_up(uint64_t{tokens} * layout.kv_heads * layout.head_dim * kv_bytes(type))),
        windows_at(layout.gdn_layers * recurrent_stride * (bf16_recurrent ? sizeof(uint16_t) : sizeof(float))),
        kv_at(windows_at + layout.gdn_layers * 2 * window_stride * sizeof(float)),
        total(kv_at + layout.attention_layers * 2 * kv_layer_bytes) {}
};

}  // namespace

uint64_t SequenceState::bytes(const plan::StateLayout& layout, KvType type, uint32_t tokens, bool bf16_recurrent) {
  return Sizes(layout, type, tokens, bf16_recurrent).total;
}

Result<SequenceState> SequenceState::open(const plan::StateLayout& layout, KvType type, uint32_t tokens, Pages pages, bool bf16_recurrent) {
  const Sizes sizes(layout, type, tokens, bf16_recurrent);
  SequenceState state;
  TEAPOT_TRY(state.arena_, Arena::reserve("the state of a sequence", sizes.total, pages));
  std::byte* const base = state.arena_.data();
  state.capacity_ = tokens;
  state.recurrent_ = base;
  state.bf16_recurrent_ = bf16_recurrent;
  state.windows_ = reinterpret_cast<float*>(base + sizes.windows_at);
  state.kv_ = base + sizes.kv_at;
  state.recurrent_stride_ = sizes.recurrent_stride;
  state.window_stride_ = sizes.window_stride;
  state.kv_layer_bytes_ = sizes.kv_layer_bytes;
  state.current_window_.assign(layout.gdn_layers, 0);
  return state;
}

plan::StateSnapshot SequenceState::snapshot(const plan::StateLayout& layout, uint32_t layer) const {
  const size_t recurrent_floats = size_t{layout.value_heads} * layout.dk * layout.dv;
  const size_t window_floats = size_t{layout.conv_kernel - 1} * layout.conv_channels();
  std::vector<float> values(recurrent_floats);
  for (size_t i = 0; i < recurrent_floats; ++i) {
    values[i] = bf16_recurrent_ ? bf16_to_f32(recurrent_bf16(layer)[i]) : recurrent(layer)[i];
  }
  return {std::move(values), std::vector<float>(window(layer), window(layer) + window_floats)};
}

}  // namespace teapot::cpu
