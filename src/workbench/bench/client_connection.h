// One user of a load: a kept-alive connection to the server, and one request after the other on it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "workbench/bench/load.h"

namespace teapot::workbench {

class ReplyReader;

// The client's clock: monotonic nanoseconds.
int64_t client_now_ns();

// Belongs to the one thread that runs its io_context.
class ClientConnection {
 public:
  // All must outlive it. addresses: of the endpoint, tried one after the other.
  ClientConnection(boost::asio::io_context& io, const Endpoint& endpoint, const boost::asio::ip::tcp::resolver::results_type& addresses,
                   const LoadOptions& options);

  // Connects, unless the connection stands, sends and reads until the record (fresh but for its index) is complete.
  boost::asio::awaitable<void> exchange(const LoadRequest& request, RequestRecord& record);

  // To be called every now and then: ends the exchange in progress if it has waited too long.
  void check_deadline(int64_t now_ns);
  // Ends the exchange in progress, if any, as kCancelled.
  void cancel();

  // The record of the exchange in progress; null: none.
  const RequestRecord* running() const { return running_; }

 private:
  boost::asio::awaitable<bool> connect(RequestRecord& record);
  // kept: the connection was there before. False: it ended before a byte of a reply, and the record is as it was.
  boost::asio::awaitable<bool> transfer(const LoadRequest& request, RequestRecord& record, bool kept);
  bool still_open();
  void close();
  // Why the socket's operation failed: our own doing, or the network's.
  void end(ReplyReader& reader, int64_t waiting_since_ns, std::string_view why) const;

  const Endpoint& endpoint_;
  const boost::asio::ip::tcp::resolver::results_type& addresses_;
  const LoadOptions& options_;
  boost::asio::ip::tcp::socket socket_;
  std::string head_;  // of each request, but for its length
  std::array<char, 64 * 1024> buffer_;

  const RequestRecord* running_ = nullptr;
  int64_t deadline_ns_ = 0;  // of what is waited for; 0: nothing
  bool timed_out_ = false, cancelled_ = false;
};

}  // namespace teapot::workbench
