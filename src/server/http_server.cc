#include "server/http_server.h"

#include <atomic>
#include <map>
#include <mutex>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"

namespace teapot::server {

using asio::ip::tcp;
using boost::system::error_code;

// The open connections; outlives the server as long as one of them does.
struct HttpServer::Open {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Connection>> connections;  // guarded by mutex
  uint64_t next = 0;                                          // guarded by mutex
  std::atomic<bool> winding_down = false;

  void for_each(void (Connection::*action)()) {
    // Let go of outside the lock: the last reference may be the one here, and a connection that ends takes the lock.
    std::vector<std::shared_ptr<Connection>> held;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [id, weak] : connections) {
        if (auto connection = weak.lock()) held.push_back(std::move(connection));
      }
    }
    for (const auto& connection : held) asio::post(connection->strand(), [connection, action] { (connection.get()->*action)(); });
  }
};

HttpServer::HttpServer(HttpContext context)
    : context_(std::make_shared<const HttpContext>(std::move(context))),
      acceptor_(asio::make_strand(io_)),
      open_(std::make_shared<Open>()) {}

HttpServer::~HttpServer() { stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const std::string& host, uint16_t port, HttpContext context) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(context)));
  error_code error;
  tcp::resolver resolver(server->io_);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || found.empty()) return fail(ErrorKind::kInvalid, "--host {}: {}", host, error.message());
  const tcp::endpoint endpoint = *found.begin();
  server->acceptor_.open(endpoint.protocol(), error);
  if (!error) server->acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) server->acceptor_.bind(endpoint, error);
  if (!error) server->acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail(ErrorKind::kIo, "cannot listen on {}:{}: {}", host, port, error.message());
  return server;
}

uint16_t HttpServer::port() const {
  error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void HttpServer::start(int threads) {
  asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { io_.run(); });
}

asio::awaitable<void> HttpServer::accept() {
  asio::steady_timer pause(io_);
  while (acceptor_.is_open()) {
    if (connections() >= context_->limits.connections) {
      pause.expires_after(std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    Connection::Socket socket(asio::make_strand(asio::any_io_executor(io_.get_executor())));
    const auto [error] = co_await acceptor_.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) co_return;
    if (error) {  // out of descriptors, a client that left in the queue: neither ends the server
      log::warn("accept: {}", error.message());
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    uint64_t id = 0;
    {
      const std::lock_guard lock(open_->mutex);
      id = open_->next++;
      open_->connections.emplace(id, std::weak_ptr<Connection>{});
    }
    auto connection = std::make_shared<Connection>(std::move(socket), context_, [open = open_, id] {
      const std::lock_guard lock(open->mutex);
      open->connections.erase(id);
    });
    {
      const std::lock_guard lock(open_->mutex);
      open_->connections[id] = connection;
    }
    if (open_->winding_down) co_return;
    asio::co_spawn(connection->strand(), [connection] { return connection->run(); }, asio::detached);
  }
}

void HttpServer::wind_down() {
  open_->winding_down = true;
  asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
  });
  open_->for_each(&Connection::wind_down);
}

void HttpServer::drop_connections() { open_->for_each(&Connection::drop); }

size_t HttpServer::connections() const {
  const std::lock_guard lock(open_->mutex);
  return open_->connections.size();
}

void HttpServer::stop() {
  io_.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace teapot::server
