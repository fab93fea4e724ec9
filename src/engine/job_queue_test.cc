#include "engine/job_queue.h"

#include <gtest/gtest.h>

namespace teapot::engine {
namespace {

std::shared_ptr<Job> job() { return std::make_shared<Job>(); }

TEST(JobQueue, GivesJobsInOrderOfArrival) {
  JobQueue queue(4);
  const auto first = queue.push(job()), second = queue.push(job());
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(queue.take()->id, *first);
  queue.done();
  EXPECT_EQ(queue.take()->id, *second);
}

TEST(JobQueue, IsBounded) {
  JobQueue queue(1);
  ASSERT_TRUE(queue.push(job()));  // will run at once
  ASSERT_TRUE(queue.push(job()));  // waits
  EXPECT_TRUE(queue.full());
  const auto third = queue.push(job());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::kBusy);
  queue.take();
  EXPECT_TRUE(queue.full());
  EXPECT_EQ(queue.load().running, 1u);
  EXPECT_EQ(queue.load().waiting, 1u);
  queue.done();
  EXPECT_FALSE(queue.full());
}

TEST(JobQueue, CancelMakesRoomAtOnce) {
  JobQueue queue(1);
  const auto running = queue.push(job());
  const auto taken = queue.take();
  const auto waiting = queue.push(job());
  EXPECT_TRUE(queue.full());
  queue.cancel(*waiting);
  EXPECT_FALSE(queue.full());
  EXPECT_EQ(queue.take(), nullptr);  // something to be finished first
  const auto cancelled = queue.take_cancelled();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0]->id, *waiting);
  EXPECT_FALSE(taken->cancelled);
  queue.cancel(*running);
  EXPECT_TRUE(taken->cancelled);
  queue.cancel(12345);  // unknown: nothing happens
}

TEST(JobQueue, CloseCancelsEverything) {
  JobQueue queue(2);
  ASSERT_TRUE(queue.push(job()));
  const auto taken = queue.take();
  ASSERT_TRUE(queue.push(job()));
  queue.close();
  EXPECT_TRUE(taken->cancelled);
  EXPECT_EQ(queue.take(), nullptr);
  EXPECT_EQ(queue.take_cancelled().size(), 1u);
  EXPECT_FALSE(queue.push(job()));
}

}  // namespace
}  // namespace teapot::engine
