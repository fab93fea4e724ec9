#include "cpu/thread_team.h"

#include <gtest/gtest.h>
#include <numeric>

namespace teapot::cpu {
namespace {

std::unique_ptr<ThreadTeam> team(size_t workers) {
  auto created = ThreadTeam::create(workers, {});
  EXPECT_TRUE(created.has_value()) << created.error().message;
  return *std::move(created);
}

TEST(ThreadTeam, RunsOnceOnEachWorker) {
  for (const size_t workers : {1u, 2u, 5u}) {
    const auto t = team(workers);
    ASSERT_EQ(t->workers(), workers);
    std::vector<int> calls(workers);
    for (int round = 0; round < 200; ++round) {
      t->run([&](size_t worker) { ++calls[worker]; });
    }
    EXPECT_EQ(calls, std::vector<int>(workers, 200));
  }
}

TEST(ThreadTeam, EachItemIsClaimedOnceAndItsWorkIsSeenAfterwards) {
  const auto t = team(3);
  std::vector<int> touched(1000);  // plain ints: the join must publish them
  for (const size_t items : {0u, 1u, 2u, 999u, 1000u}) {
    std::fill(touched.begin(), touched.end(), 0);
    t->parallel_for(items, [&](size_t item, size_t worker) {
      EXPECT_LT(worker, 3u);
      ++touched[item];
    });
    EXPECT_EQ(std::accumulate(touched.begin(), touched.end(), 0), static_cast<int>(items));
    for (size_t i = 0; i < items; ++i) ASSERT_EQ(touched[i], 1);
  }
}

// Workers that went to sleep must wake: the pause is longer than they spin.
TEST(ThreadTeam, WakesFromSleep) {
  const auto t = team(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    size_t sum[2] = {};
    t->parallel_for(64, [&](size_t item, size_t worker) { sum[worker] += item; });
    EXPECT_EQ(sum[0] + sum[1], 64u * 63u / 2u);
  }
}

TEST(ThreadTeam, ATeamThatNeverWorkedEnds) { team(4); }

TEST(CallerPin, HoldsWhileItLives) {
  cpu_set_t before, inside, after;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
  unsigned cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  {
    const auto pin = CallerPin::to(cpu);
    ASSERT_TRUE(pin.has_value()) << pin.error().message;
    ASSERT_EQ(0, sched_getaffinity(0, sizeof(inside), &inside));
    EXPECT_EQ(CPU_COUNT(&inside), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &inside));
  }
  ASSERT_EQ(0, sched_getaffinity(0, sizeof(after), &after));
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CallerPin, AMissingCpuIsAnError) { EXPECT_FALSE(CallerPin::to(CPU_SETSIZE - 1).has_value()); }

}  // namespace
}  // namespace teapot::cpu
