// From one thread to a coroutine: a bounded queue of events, for a reply that is made on the engine's thread and sent by a connection.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace teapot::server {

template <class T>
class Channel : public std::enable_shared_from_this<Channel<T>> {
 public:
  // reader: the strand on which take() and abort() are called. limit: of the weights of what waits.
  Channel(boost::asio::any_io_executor reader, size_t limit) : timer_(reader), reader_(std::move(reader)), limit_(limit) {}

  enum class State { kOpen, kFinished, kOverflow, kAborted };

  // Any thread. False: nobody will read it (aborted, or the limit is passed), the sender may stop.
  bool push(T item, size_t weight) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::kOpen) return false;
      if (weight_ + weight > limit_) {
        state_ = State::kOverflow;
      } else {
        weight_ += weight;
        items_.push_back(std::move(item));
      }
    }
    wake();
    const std::lock_guard lock(mutex_);
    return state_ == State::kOpen;
  }

  // Any thread: no more will come.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == State::kOpen) state_ = State::kFinished;
    }
    wake();
  }

  // The reader's side gives up: what waits is dropped, also when all was there; else a reader would wait for an end that it cannot see.
  void abort() {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::kAborted;
      items_.clear();
    }
    timer_.cancel();
  }

  struct Taken {
    std::vector<T> items;  // all that waited, in order; empty and kOpen: the time is up
    State state;           // kFinished with items: these are the last
  };

  // Waits for items, an end or the time-out.
  boost::asio::awaitable<Taken> take(std::chrono::milliseconds timeout) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (true) {
      Taken taken;
      {
        const std::lock_guard lock(mutex_);
        taken.state = state_;
        taken.items.assign(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
        items_.clear();
        weight_ = 0;
        woken_ = false;
      }
      if (!taken.items.empty() || taken.state != State::kOpen || std::chrono::steady_clock::now() >= until) co_return taken;
      timer_.expires_at(until);
      co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
  }

 private:
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(woken_, true)) return;
    }
    // The reader may stand between its look at the queue and its wait; posting to its strand comes after both.
    boost::asio::post(reader_, [self = this->shared_from_this()] { self->timer_.cancel(); });
  }

  boost::asio::steady_timer timer_;
  boost::asio::any_io_executor reader_;
  const size_t limit_;
  std::mutex mutex_;
  std::deque<T> items_;  // guarded by mutex_, as all below
  size_t weight_ = 0;
  bool woken_ = false;
  State state_ = State::kOpen;
};

}  // namespace teapot::server
