#include "engine/job_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace teapot::engine {
namespace {

std::shared_ptr<Job> job() { return std::make_shared<Job>(); }
std::shared_ptr<Job> take(JobQueue& queue) {
  return queue.take_if([](const Job&) { return true; });
}

TEST(JobQueue, GivesJobsInOrderOfArrival) {
  JobQueue queue(4);
  const auto first = queue.push(job()), second = queue.push(job());
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(take(queue)->id, *first);
  EXPECT_EQ(take(queue)->id, *second);
  EXPECT_EQ(take(queue), nullptr);
}

TEST(JobQueue, NobodyOvertakesTheFirst) {
  JobQueue queue(4);
  const auto first = queue.push(job());
  ASSERT_TRUE(queue.push(job()));
  EXPECT_EQ(queue.take_if([&](const Job& waiting) { return waiting.id != *first; }), nullptr);
  EXPECT_EQ(queue.waiting(), 2u);
}

TEST(JobQueue, IsBounded) {
  JobQueue queue(1, 2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(job()));  // two can run at once
  EXPECT_TRUE(queue.full());
  const auto fourth = queue.push(job());
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().kind, ErrorKind::kBusy);
  const auto running = take(queue);
  EXPECT_TRUE(queue.full());
  take(queue);
  EXPECT_EQ(queue.waiting(), 1u);
  queue.done(*running);
  EXPECT_FALSE(queue.full());
}

TEST(JobQueue, KnowsHowLongAPlaceTakes) {
  JobQueue queue(4);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(job()));
  take(queue);
  EXPECT_EQ(queue.seconds_a_place(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  take(queue);
  const double known = queue.seconds_a_place();
  EXPECT_GE(known, 0.02);
  take(queue);  // nobody waits: what follows says nothing
  const double after = queue.seconds_a_place();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(queue.push(job()));
  take(queue);
  EXPECT_EQ(queue.seconds_a_place(), after);
}

TEST(JobQueue, CancelMakesRoomAtOnce) {
  JobQueue queue(1);
  const auto running = queue.push(job());
  const auto taken = take(queue);
  const auto waiting = queue.push(job());
  EXPECT_TRUE(queue.full());
  queue.cancel(*waiting);
  EXPECT_FALSE(queue.full());
  queue.wait();  // returns: something is to be finished
  const auto cancelled = queue.take_cancelled();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0]->id, *waiting);
  EXPECT_FALSE(taken->cancelled);
  queue.cancel(*running);
  EXPECT_TRUE(taken->cancelled);
  queue.done(*taken);
  queue.cancel(12345);  // unknown: nothing happens
}

TEST(JobQueue, CloseCancelsEverything) {
  JobQueue queue(2);
  ASSERT_TRUE(queue.push(job()));
  const auto taken = take(queue);
  ASSERT_TRUE(queue.push(job()));
  queue.close();
  EXPECT_TRUE(taken->cancelled);
  EXPECT_EQ(take(queue), nullptr);
  EXPECT_EQ(queue.take_cancelled().size(), 1u);
  EXPECT_FALSE(queue.push(job()));
  queue.wait();
}

TEST(JobQueue, ANudgeEndsAWait) {
  JobQueue queue(2);
  std::atomic<int> waits = 0;
  std::jthread waiter([&] {
    for (int i = 0; i < 2; ++i) {
      queue.wait();
      ++waits;
    }
  });
  const auto after = [&](int wanted) {
    while (waits < wanted) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return waits.load();
  };
  queue.nudge();
  EXPECT_EQ(after(1), 1);  // one nudge is one end
  queue.nudge();
  EXPECT_EQ(after(2), 2);
}

}  // namespace
}  // namespace teapot::engine
