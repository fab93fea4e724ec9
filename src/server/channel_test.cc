#include "server/channel.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace teapot::server {
namespace {

using Ints = Channel<int>;

// What one take() gives; nothing, if it waits for longer than the loop has work.
std::optional<Ints::Taken> take(boost::asio::io_context& io, Ints& channel) {
  std::optional<Ints::Taken> taken;
  boost::asio::co_spawn(
      io, [&]() -> boost::asio::awaitable<void> { taken = co_await channel.take(std::chrono::hours(1)); }, boost::asio::detached);
  io.restart();
  io.poll();
  return taken;
}

TEST(Channel, GivesAllThatWaitsInOrderThenTheEnd) {
  boost::asio::io_context io;
  const auto channel = std::make_shared<Ints>(io.get_executor(), 100);
  EXPECT_TRUE(channel->push(1, 10));
  EXPECT_TRUE(channel->push(2, 10));
  channel->finish();
  const auto taken = take(io, *channel);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->items, (std::vector{1, 2}));
  EXPECT_EQ(taken->state, Ints::State::kFinished);
  EXPECT_FALSE(channel->push(3, 10));
}

TEST(Channel, OverflowsBeyondItsLimitAndTellsTheSender) {
  boost::asio::io_context io;
  const auto channel = std::make_shared<Ints>(io.get_executor(), 15);
  EXPECT_TRUE(channel->push(1, 10));
  EXPECT_FALSE(channel->push(2, 10));
  const auto taken = take(io, *channel);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->state, Ints::State::kOverflow);
}

// A client may leave between a reply's last event and its sending: the reader must still see that it is over.
TEST(Channel, AnAbortAfterTheEndIsSeen) {
  boost::asio::io_context io;
  const auto channel = std::make_shared<Ints>(io.get_executor(), 100);
  channel->push(1, 10);
  channel->finish();
  channel->abort();
  const auto taken = take(io, *channel);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->items.empty());
  EXPECT_EQ(taken->state, Ints::State::kAborted);
}

}  // namespace
}  // namespace teapot::server
