// Decoding allocates nothing (design section 4): every allocation of this test program is counted.
#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "cpu/backend.h"
#include "cpu/tiny_mtp_model.h"

namespace {
std::atomic<size_t> allocations = 0;
}

// Not inlined: gcc would see free() of what an operator new gave, and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace teapot::cpu {
namespace {

TEST(Allocation, DecodeStepsAllocateNothing) {
  const TinyModel model(plan::WeightType::kQ8_0);
  const auto backend = create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  ASSERT_TRUE((*backend)->load(model.table, model.layout, {}));
  const auto plan = (*backend)->prepare(model.plan(3));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  plan::StepPacket packet;
  packet.tokens = {1, 2, 3};
  for (uint32_t row = 0; row < 3; ++row) packet.sequences.push_back({*(*backend)->open_slot(64), row, 1, 0});
  packet.returns = {plan::RowReturn::kArgmax, plan::RowReturn::kLogits, plan::RowReturn::kTopK};
  packet.top_k = 20;
  packet.biases = {{3, -1.0f}, {319, -std::numeric_limits<float>::infinity()}};
  packet.masks = {{0, 2}, {}, {0, 2}};
  plan::StepResult result;
  size_t before = 0;
  for (uint32_t position = 0; position < 20; ++position) {
    for (plan::SequenceRows& sequence : packet.sequences) sequence.position = position;
    if (position == 1) before = allocations.load();  // the first step sizes the result
    ASSERT_TRUE((*backend)->run(*plan, packet, result));
    std::ranges::copy(result.argmax, packet.tokens.begin());
  }
  EXPECT_EQ(allocations.load(), before);
}

TEST(Allocation, StepsThatVerifyAllocateNothing) {
  TinyModel model(plan::WeightType::kQ8_0);
  model.layout.verify_rows = 3;
  const auto backend = create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  ASSERT_TRUE((*backend)->load(model.table, model.layout, {}));
  const auto plan = (*backend)->prepare(model.plan(4));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const plan::SlotId guessing = *(*backend)->open_slot(64), plain = *(*backend)->open_slot(64);
  plan::StepPacket packet{{1, 2, 3, 4}, {{guessing, 0, 3, 0, plan::StepKind::kVerify}, {plain, 3, 1, 0, plan::StepKind::kDecode}}, {}};
  packet.returns.assign(4, plan::RowReturn::kArgmax);
  plan::StepResult result;
  size_t before = 0;
  for (uint32_t round = 0; round < 20; ++round) {
    if (round == 1) before = allocations.load();  // the first step sizes the result
    ASSERT_TRUE((*backend)->run(*plan, packet, result));
    ASSERT_TRUE((*backend)->accept(guessing, 1 + round % 3));
    packet.sequences[0].position += 1 + round % 3;
    packet.sequences[1].position += 1;
  }
  EXPECT_EQ(allocations.load(), before);
}

TEST(Allocation, NorDoDraftsAndTheirCatchingUp) {
  const TinyMtpModel model(plan::WeightType::kQ8_0);
  const auto backend = create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  ASSERT_TRUE((*backend)->load(model.table, model.layout, {}));
  constexpr plan::PlanKind kKinds[] = {plan::PlanKind::kModelMtp, plan::PlanKind::kModel, plan::PlanKind::kMtpState, plan::PlanKind::kDraft,
                                       plan::PlanKind::kDraft};
  std::vector<plan::PlanId> plans;
  for (const plan::PlanKind kind : kKinds) plans.push_back(*(*backend)->prepare(model.plan_of({2, kind})));
  plan::StepPacket packet;
  packet.tokens = {1, 2};
  for (uint32_t row = 0; row < 2; ++row) packet.sequences.push_back({*(*backend)->open_slot(64), row, 1, 0});
  plan::StepResult result;
  size_t before = 0;
  for (uint32_t round = 0; round < 10; ++round) {
    if (round == 1) before = allocations.load();
    uint32_t ahead = 0;
    for (size_t i = 0; i < plans.size(); ++i) {
      const bool draft = kKinds[i] == plan::PlanKind::kDraft, catches_up = kKinds[i] == plan::PlanKind::kMtpState;
      for (plan::SequenceRows& sequence : packet.sequences) {
        sequence.position = catches_up ? (*backend)->mtp_committed(sequence.slot) : (*backend)->committed(sequence.slot) + ahead;
      }
      packet.returns.assign(2, draft ? plan::RowReturn::kDraft : plan::RowReturn::kNothing);
      packet.head_rows.clear();
      if (draft) packet.head_rows.assign({{16, 32}, {304, 16}});
      ASSERT_TRUE((*backend)->run(plans[i], packet, result));
      ahead += draft ? 1 : 0;
    }
  }
  EXPECT_EQ(allocations.load(), before);
}

}  // namespace
}  // namespace teapot::cpu
