// Listens, accepts, keeps the connections; stops gracefully.
#pragma once

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/error.h"
#include "server/http_connection.h"

namespace teapot::server {

class HttpServer {
 public:
  // Opens the port at once (port 0: any free one); kIo names address and reason.
  static Result<std::unique_ptr<HttpServer>> listen(const std::string& host, uint16_t port, HttpContext context);
  ~HttpServer();

  uint16_t port() const;
  asio::io_context& io() { return io_; }

  // Accepts and serves on `threads` threads of its own.
  void start(int threads);
  // No new connections; the open ones end after the request in progress. Any thread.
  void wind_down();
  // Ends the open connections at once. Any thread.
  void drop_connections();
  // Open connections.
  size_t connections() const;
  // Ends all connections and joins the threads.
  void stop();

 private:
  explicit HttpServer(HttpContext context);
  asio::awaitable<void> accept();

  struct Open;
  asio::io_context io_;
  // Until stop(): with the acceptor closed and the last connection at its end the threads would leave, and what is posted to that
  // connection meanwhile, which keeps it alive, would never run.
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::shared_ptr<const HttpContext> context_;
  asio::ip::tcp::acceptor acceptor_;
  std::shared_ptr<Open> open_;
  std::vector<std::thread> threads_;
};

}  // namespace teapot::server
