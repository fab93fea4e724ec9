#include "cpu/sequence_state.h"

#include <gtest/gtest.h>

namespace teapot::cpu {
namespace {

// 2 attention layers with 3 KV heads of 32, 2 GDN layers.
constexpr plan::StateLayout kLayout = {2, 3, 32, 2, 4, 1, 2, 16, 8, false};

SequenceState open(KvType type, uint32_t tokens) {
  auto state = SequenceState::open(kLayout, type, tokens, Pages::k4k);
  EXPECT_TRUE(state.has_value()) << state.error().message;
  return *std::move(state);
}

TEST(SequenceState, BytesAreThoseOfItsParts) {
  const uint64_t recurrent = 2 * 2 * 16 * 8 * 4, windows = 2 * 2 * (3 * 48) * 4;
  EXPECT_EQ(SequenceState::bytes(kLayout, kKvF16, 0), recurrent + windows);
  EXPECT_EQ(SequenceState::bytes(kLayout, kKvF16, 100) - SequenceState::bytes(kLayout, kKvF16, 0), 2u * 2 * 100 * 96 * 2);
  EXPECT_EQ(SequenceState::bytes(kLayout, kKvF32, 100) - SequenceState::bytes(kLayout, kKvF32, 0), 2u * 2 * 100 * 96 * 4);
}

TEST(SequenceState, PartsDoNotOverlapAndBeginAtZero) {
  const SequenceState state = open(kKvF16, 100);
  const size_t kv = 100 * 96 * 2;
  EXPECT_EQ(state.window(0), state.recurrent(1) + 2 * 16 * 8);
  EXPECT_GE(state.values(0), state.keys(0) + kv);
  EXPECT_GE(state.keys(1), state.values(0) + kv);
  EXPECT_EQ(state.values(1)[kv - 1], std::byte{0});
  for (const float x : state.snapshot(kLayout, 1).recurrent) EXPECT_EQ(x, 0.0f);
}

TEST(SequenceState, WindowsTakeTurns) {
  SequenceState state = open(kKvF32, 1);
  state.next_window(1)[0] = 5;
  EXPECT_EQ(state.window(1)[0], 0.0f);
  state.flip_window(1);
  EXPECT_EQ(state.window(1)[0], 5.0f);
  EXPECT_EQ(state.window(0)[0], 0.0f);
  EXPECT_EQ(state.snapshot(kLayout, 1).conv[0], 5.0f);
}

}  // namespace
}  // namespace teapot::cpu
