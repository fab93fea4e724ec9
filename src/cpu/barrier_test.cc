#include "cpu/barrier.h"

#include <gtest/gtest.h>
#include <chrono>
#include <thread>
#include <vector>

namespace teapot::cpu {
namespace {

class BarrierWaits : public testing::TestWithParam<Wait> {};

TEST_P(BarrierWaits, AllSeeWhatAllWroteAndTheLastWorksAlone) {
  // Those that never sleep must not be more than the processors, or they wait for the scheduler.
  const uint32_t members = GetParam() == Wait::kSpin ? 2 : 4;
  constexpr int kRounds = 100;
  Barrier barrier(members, {GetParam(), 1000});
  std::vector<int> values(members);  // plain ints: the barrier must publish them
  int sum = 0, serial = 0;
  std::atomic<int> wrong = 0;
  std::atomic<int> lasts = 0;
  const auto member = [&](uint32_t self) {
    for (int round = 1; round <= kRounds; ++round) {
      values[self] = round;
      const bool last = barrier.arrive([&] {
        ++serial;
        sum = 0;
        for (const int value : values) sum += value;
      });
      if (last) lasts.fetch_add(1);
      if (sum != round * static_cast<int>(members) || serial != round) wrong.fetch_add(1);
      barrier.arrive([] {});  // nobody writes before all have looked
    }
  };
  {
    std::vector<std::jthread> threads;
    for (uint32_t self = 0; self < members; ++self) threads.emplace_back(member, self);
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(lasts.load(), kRounds);
}

TEST_P(BarrierWaits, ALateMemberWakesTheOthers) {
  Barrier barrier(2, {GetParam(), 1000});
  std::jthread early([&] { barrier.arrive([] {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(barrier.arrive([] {}));
}

INSTANTIATE_TEST_SUITE_P(All, BarrierWaits, testing::Values(Wait::kFutex, Wait::kSpin, Wait::kSpinFutex));

TEST(Barrier, OfOneNeverWaits) {
  Barrier barrier(1, {Wait::kFutex, 0});
  int calls = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(barrier.arrive([&] { ++calls; }));
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace teapot::cpu
