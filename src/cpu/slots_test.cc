#include "cpu/slots.h"

#include <gtest/gtest.h>

#include <cstring>

namespace teapot::cpu {
namespace {

// 2 attention layers with 3 KV heads of 32, 2 GDN layers.
constexpr plan::StateLayout kLayout = {2, 3, 32, 2, 4, 1, 2, 16, 8, false};
constexpr plan::PlanKind kModel = plan::PlanKind::kModel;
constexpr uint64_t kPage = 2u * 2 * plan::kPagePositions * 96 * 2;

struct SlotsTest : testing::Test {
  std::unique_ptr<ThreadTeam> team = *ThreadTeam::create(2, std::span<const unsigned>{});
  Slots slots{kLayout, kKvF16, false, Pages::k4k, *team};

  plan::SlotId open(uint32_t tokens) {
    const auto slot = slots.open(tokens);
    EXPECT_TRUE(slot) << slot.error().message;
    return *slot;
  }
  plan::SlotId fork(plan::SlotId from, uint32_t position, uint32_t tokens) {
    const auto slot = slots.fork(from, position, tokens);
    EXPECT_TRUE(slot) << slot.error().message;
    return *slot;
  }
  SequenceState& state(plan::SlotId slot) { return *slots.find(slot); }

  // What a step does: keys and values of the new positions tell `mark` and the position.
  void run(plan::SlotId slot, uint32_t rows, int mark) {
    SequenceState& s = state(slot);
    const uint32_t first = s.committed();
    const plan::SequenceRows step{slot, 0, rows, first};
    ASSERT_TRUE(slots.prepare(step, kModel));
    for (uint32_t p = first; p < first + rows; ++p) {
      for (uint32_t layer = 0; layer < 2; ++layer) {
        std::memset(s.keys(layer, p), mark + static_cast<int>(p + layer) % 50, 96 * 2);
        std::memset(s.values(layer, p), mark + static_cast<int>(p + layer) % 50 + 1, 96 * 2);
      }
    }
    s.recurrent(1)[3] += static_cast<float>(mark);
    s.next_window(0)[5] = s.window(0)[5] + static_cast<float>(rows);
    s.flip_window(0);
    s.commit(kModel, step);
  }
  int key(plan::SlotId slot, uint32_t position) { return static_cast<int>(*state(slot).keys(1, position)); }
  int expected_key(uint32_t position, int mark) { return mark + static_cast<int>(position + 1) % 50; }
};

TEST_F(SlotsTest, BytesAreThoseOfTheParts) {
  const uint64_t recurrent = 2 * 2 * 16 * 8 * 4, windows = 2 * 2 * (3 * 48) * 4;
  EXPECT_EQ(slots.sizes().state_bytes(0), recurrent + windows);
  EXPECT_EQ(slots.sizes().state_bytes(1), recurrent + windows + kPage);
  EXPECT_EQ(slots.sizes().state_bytes(257), recurrent + windows + 2 * kPage);
  EXPECT_EQ(StateSizes(kLayout, kKvF32, false).page_bytes, 2 * kPage);
  plan::StateLayout layout = kLayout;
  layout.verify_rows = 3;
  const uint64_t longer_windows = 2 * 2 * (6 * 48) * 4, logs = 2 * 2 * 3 * 48 * 4;  // k of 16, two deltas of 8 and alphas, in whole lines
  EXPECT_EQ(StateSizes(layout, kKvF16, false).own_bytes, recurrent + longer_windows + logs);
}

TEST_F(SlotsTest, AFreshStateIsZeroAlsoInUsedMemory) {
  for (int i = 0; i < 3; ++i) {
    const plan::SlotId slot = open(300);
    EXPECT_EQ(state(slot).recurrent(1)[3], 0.0f);
    EXPECT_EQ(state(slot).window(0)[5], 0.0f);
    EXPECT_EQ(state(slot).committed(), 0u);
    run(slot, 3, 7);
    slots.close(slot);
  }
  EXPECT_EQ(slots.usage().slots, 0u);
  EXPECT_EQ(slots.usage().pages, 0u);
  EXPECT_EQ(slots.usage().bytes, 0u);
}

TEST_F(SlotsTest, PagesComeWithTheirPositions) {
  const plan::SlotId slot = open(600);
  EXPECT_EQ(slots.usage().pages, 0u);
  run(slot, 256, 1);
  EXPECT_EQ(slots.usage().pages, 1u);
  run(slot, 1, 1);
  EXPECT_EQ(slots.usage().pages, 2u);
  EXPECT_EQ(key(slot, 255), expected_key(255, 1));
  EXPECT_EQ(key(slot, 256), expected_key(256, 1));
}

TEST_F(SlotsTest, ForksShareFullPagesAndGoOnAlone) {
  const plan::SlotId parent = open(1000);
  run(parent, 300, 1);
  const plan::SlotId child = fork(parent, 300, 1000);
  EXPECT_EQ(slots.usage().pages, 3u);
  EXPECT_EQ(state(child).pages()[0], state(parent).pages()[0]);
  EXPECT_NE(state(child).pages()[1], state(parent).pages()[1]);
  run(child, 300, 100);
  run(parent, 100, 2);
  for (const uint32_t p : {0u, 255u, 256u, 299u}) {
    EXPECT_EQ(key(parent, p), expected_key(p, 1));
    EXPECT_EQ(key(child, p), expected_key(p, 1));
  }
  EXPECT_EQ(key(child, 300), expected_key(300, 100));
  EXPECT_EQ(key(parent, 300), expected_key(300, 2));
  EXPECT_EQ(state(parent).recurrent(1)[3], 3.0f);
  EXPECT_EQ(state(child).recurrent(1)[3], 101.0f);
  EXPECT_EQ(state(child).window(0)[5], 600.0f);
  EXPECT_EQ(state(parent).window(0)[5], 400.0f);
  slots.close(parent);
  EXPECT_EQ(key(child, 0), expected_key(0, 1));
  EXPECT_EQ(slots.usage().pages, 3u);
  slots.close(child);
  EXPECT_EQ(slots.usage().pages, 0u);
}

TEST_F(SlotsTest, RecurrentStatesCannotBeCutBack) {
  const plan::SlotId slot = open(100);
  run(slot, 10, 1);
  for (const uint32_t position : {0u, 9u, 11u}) EXPECT_FALSE(slots.fork(slot, position, 100));
  EXPECT_FALSE(slots.fork(slot, 10, 9));
  EXPECT_FALSE(slots.fork(plan::SlotId{77}, 0, 9));
  EXPECT_EQ(slots.usage().slots, 1u);
}

TEST_F(SlotsTest, WithoutRecurrentStatesAnyPositionWillDo) {
  plan::StateLayout layout = kLayout;
  layout.gdn_layers = 0;
  Slots attention(layout, kKvF16, false, Pages::k4k, *team);
  const plan::SlotId parent = *attention.open(1000);
  ASSERT_TRUE(attention.prepare({parent, 0, 600, 0}, kModel));
  for (uint32_t p = 0; p < 600; ++p) std::memset(attention.find(parent)->keys(0, p), static_cast<int>(p % 100), 96 * 2);
  attention.find(parent)->commit(kModel, {parent, 0, 600, 0});
  const auto child = attention.fork(parent, 257, 300);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(attention.find(*child)->committed(), 257u);
  EXPECT_EQ(attention.find(*child)->pages().size(), 2u);
  for (const uint32_t p : {0u, 255u, 256u}) EXPECT_EQ(static_cast<uint32_t>(*attention.find(*child)->keys(0, p)), p % 100);
}

TEST_F(SlotsTest, AForkHasTheHiddenStatesThatItsSourceKept) {
  plan::StateLayout layout = kLayout;
  layout.gdn_layers = 0;
  layout.mtp_layers = 1;
  layout.hidden = 20;
  Slots attention(layout, kKvF16, false, Pages::k4k, *team);
  EXPECT_EQ(attention.sizes().page_bytes, kPage / 2 * 3);
  EXPECT_EQ(attention.sizes().state_bytes(0), 33u * 32 * 4);
  const auto keep = [&](plan::SlotId slot, uint32_t rows, float mark) {
    SequenceState& state = *attention.find(slot);
    const plan::SequenceRows step{slot, 0, rows, state.committed()};
    ASSERT_TRUE(attention.prepare(step, plan::PlanKind::kModelMtp));
    for (uint32_t p = step.position; p < step.position + rows; ++p) {
      state.keep_hidden(p, std::vector<float>(20, mark + static_cast<float>(p)));
    }
    state.commit(plan::PlanKind::kModelMtp, step);
  };
  const plan::SlotId parent = *attention.open(1000);
  keep(parent, 40, 0);
  const plan::SlotId near = *attention.fork(parent, 30, 1000), far = *attention.fork(parent, 5, 1000);
  EXPECT_EQ(attention.find(near)->mtp_committed(), 30u);
  EXPECT_EQ(attention.find(near)->hidden(29)[19], 29.0f);
  EXPECT_EQ(attention.find(far)->mtp_committed(), 5u);
  EXPECT_EQ(attention.find(far)->hidden(4), nullptr);
  keep(far, 1, 1000);
  EXPECT_EQ(attention.find(far)->hidden(5)[0], 1005.0f);
  EXPECT_EQ(attention.find(parent)->hidden(39)[0], 39.0f);
}

TEST_F(SlotsTest, ASealedSlotHasNoRoomLeft) {
  const plan::SlotId slot = open(1000);
  run(slot, 300, 1);
  slots.seal(slot);
  EXPECT_FALSE(slots.prepare({slot, 0, 1, 300}, kModel));
  const plan::SlotId child = fork(slot, 300, 1000);
  run(child, 100, 2);
  EXPECT_EQ(key(child, 299), expected_key(299, 1));
}

// Rows that did not hold may have taken a page that the slot has no room for once it is sealed.
TEST_F(SlotsTest, ASealedSlotKeepsNoPageForRowsThatDidNotHold) {
  plan::StateLayout layout = kLayout;
  layout.verify_rows = 4;
  Slots verifying(layout, kKvF16, false, Pages::k4k, *team);
  const plan::SlotId slot = *verifying.open(300);
  SequenceState& s = *verifying.find(slot);
  const plan::SequenceRows prompt{slot, 0, 255, 0}, drafts{slot, 0, 4, 255, plan::StepKind::kVerify};
  ASSERT_TRUE(verifying.prepare(prompt, kModel));
  s.commit(kModel, prompt);
  ASSERT_TRUE(verifying.prepare(drafts, kModel));
  s.commit(kModel, drafts);
  EXPECT_EQ(s.committed(), 255u);
  EXPECT_EQ(verifying.usage().pages, 2u);
  ASSERT_TRUE(verifying.accept(slot, 1));
  EXPECT_EQ(s.committed(), 256u);
  verifying.seal(slot);
  EXPECT_EQ(verifying.usage().pages, 1u);
  EXPECT_TRUE(verifying.fork(slot, 256, 300));
}

TEST_F(SlotsTest, StepsMustFitTheirSlot) {
  const plan::SlotId slot = open(10);
  EXPECT_FALSE(slots.prepare({slot, 0, 11, 0}, kModel));
  EXPECT_FALSE(slots.prepare({slot, 0, 1, 1}, kModel));
  EXPECT_FALSE(slots.prepare({plan::SlotId{9}, 0, 1, 0}, kModel));
  EXPECT_TRUE(slots.prepare({slot, 0, 10, 0}, kModel));
}

TEST_F(SlotsTest, UnusedPagesBeyondAFewGoBackToTheSystem) {
  std::vector<plan::SlotId> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back(open(64 * 256));
    run(many.back(), 64 * 256, 1);
  }
  const auto full = slots.usage();
  EXPECT_EQ(full.pages, 40u * 64);
  for (const plan::SlotId slot : many) slots.close(slot);
  EXPECT_LE(slots.usage().kept_bytes, uint64_t{192} << 20);
  EXPECT_LT(slots.usage().kept_bytes, full.bytes);
  const plan::SlotId again = open(64 * 256);
  run(again, 64 * 256, 3);
  EXPECT_EQ(key(again, 16383), expected_key(16383, 3));
}

}  // namespace
}  // namespace teapot::cpu
