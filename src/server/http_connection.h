// One client connection: reads requests, calls the handler, watches for the client's leaving, keeps the time-outs.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "server/http.h"

namespace teapot::server {

using Handler = std::function<asio::awaitable<void>(Exchange&)>;

// Body of an error that the HTTP layer itself finds (bad request line, body too large): the protocol's error object.
using ErrorBody = std::function<std::string(unsigned status, const std::string& message)>;

struct HttpContext {
  HttpLimits limits;
  Handler handler;
  ErrorBody error_body;
};

class Connection : public std::enable_shared_from_this<Connection>, private Exchange {
 public:
  using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::strand<asio::any_io_executor>>;

  // closed is called once, when the connection has ended.
  Connection(Socket socket, std::shared_ptr<const HttpContext> context, std::function<void()> closed);
  ~Connection() override;

  asio::awaitable<void> run();
  // After the request in progress, if any, the connection ends. On the strand.
  void wind_down();
  // Ends at once, cancelling the request in progress. On the strand.
  void drop() override;

  asio::strand<asio::any_io_executor> strand() { return socket_.get_executor(); }

 private:
  // One request and its reply; false: the connection is to end.
  asio::awaitable<bool> serve_one();
  std::string complaint(unsigned status, const boost::system::error_code& error) const;
  asio::awaitable<bool> refuse(unsigned status, std::string message);
  asio::awaitable<bool> send(std::string bytes);
  asio::awaitable<void> linger();
  void deadline_in(std::chrono::milliseconds time);
  void no_deadline();
  void arm_deadline();
  void watch();
  void poll_gone();
  void set_gone();
  void close();

  const HttpRequest& request() const override { return request_; }
  asio::any_io_executor executor() const override { return executor_; }
  const HttpLimits& limits() const override { return context_->limits; }
  bool gone() const override { return gone_; }
  void on_gone(std::function<void()> callback) override;
  asio::awaitable<void> reply(HttpReply reply) override;
  void set_request_id(uint64_t id) override { request_id_ = id; }
  std::string request_id_line() const;
  asio::awaitable<bool> begin_events() override;
  asio::awaitable<bool> write_events(std::string bytes) override;
  asio::awaitable<void> end_events() override;

  Socket socket_;
  asio::any_io_executor executor_;
  std::shared_ptr<const HttpContext> context_;
  std::function<void()> closed_;
  boost::beast::flat_buffer buffer_;
  asio::steady_timer deadline_timer_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  asio::steady_timer poll_timer_;  // looks for a hang-up while unread bytes of the next request hide it

  HttpRequest request_;
  std::function<void()> gone_callback_;
  uint64_t exchange_ = 0;  // counts requests: a late watcher of an earlier one does nothing
  bool http_1_0_ = false;
  bool keep_alive_ = false;
  std::optional<uint64_t> request_id_;
  bool answered_ = false;  // a reply or the head of a stream has gone out
  bool in_handler_ = false;
  bool winding_down_ = false;
  bool gone_ = false;
};

}  // namespace teapot::server
