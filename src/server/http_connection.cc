#include "server/http_connection.h"

#include <poll.h>
#include <array>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/log.h"

namespace teapot::server {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLinger{2'000};  // for the client to take an error that came before its whole request was read
constexpr std::chrono::milliseconds kPollGone{100};

std::string head(unsigned status, bool http_1_0, bool keep_alive) {
  const auto reason = http::obsolete_reason(http::int_to_status(status));
  return fmt::format("HTTP/1.{} {} {}\r\nServer: teapot\r\nConnection: {}\r\n", http_1_0 ? 0 : 1, status,
                     std::string_view(reason.data(), reason.size()), keep_alive ? "keep-alive" : "close");
}

bool from_this_host(const Connection::Socket& socket) {
  error_code error;
  const asio::ip::address address = socket.remote_endpoint(error).address();
  if (error) return false;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {  // of an IPv4 client, where one socket serves both
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

// The status of a request that could not be read; 0: the client went away, there is nobody to tell.
unsigned status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  if (error.category() == http::make_error_code(http::error::bad_method).category()) return 400;
  return 0;
}

}  // namespace

Connection::Connection(Socket socket, std::shared_ptr<const HttpContext> context, std::function<void()> closed)
    : socket_(std::move(socket)),
      executor_(socket_.get_executor()),
      context_(std::move(context)),
      closed_(std::move(closed)),
      deadline_timer_(executor_),
      poll_timer_(executor_) {}

Connection::~Connection() { closed_(); }

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  arm_deadline();
  while (co_await serve_one()) {
  }
  close();
}

asio::awaitable<bool> Connection::serve_one() {
  http::request_parser<http::string_body> parser;
  parser.header_limit(context_->limits.header_bytes);
  parser.body_limit(context_->limits.body_bytes);
  ++exchange_;
  request_ = {};
  request_id_.reset();
  answered_ = false;
  keep_alive_ = false;
  gone_callback_ = nullptr;

  deadline_in(context_->limits.idle_timeout);
  if (const auto [error, bytes] = co_await http::async_read_header(socket_, buffer_, parser, kTuple); error) {
    const unsigned status = status_of(error);
    if (status == 0) co_return false;
    co_return co_await refuse(status, complaint(status, error));
  }
  const auto& message = parser.get();
  http_1_0_ = message.version() < 11;
  deadline_in(context_->limits.body_timeout);
  if (message[http::field::expect] == "100-continue" && !parser.is_done()) {
    if (const auto length = parser.content_length(); !length || *length <= context_->limits.body_bytes) {
      if (!co_await send("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
      deadline_in(context_->limits.body_timeout);
    }
  }
  if (const auto [error, bytes] = co_await http::async_read(socket_, buffer_, parser, kTuple); error) {
    const unsigned status = status_of(error);
    if (status == 0) co_return false;
    co_return co_await refuse(status, complaint(status, error));
  }
  no_deadline();

  keep_alive_ = message.keep_alive() && !winding_down_;
  request_.method = std::string(message.method_string());
  const std::string target(message.target());
  const size_t question = target.find('?');
  request_.path = target.substr(0, question);
  if (question != target.npos) request_.query = target.substr(question + 1);
  request_.authorization = std::string(message[http::field::authorization]);
  request_.body = std::move(parser.get().body());
  request_.from_this_host = from_this_host(socket_);

  in_handler_ = true;
  watch();
  std::string failure;
  try {
    co_await context_->handler(*this);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!failure.empty()) {
    log::error("a handler failed on {} {}: {}", request_.method, request_.path, failure);
    if (!answered_) co_await reply(json_reply(500, context_->error_body(500, "internal error")));
    keep_alive_ = false;
  }
  in_handler_ = false;
  poll_timer_.cancel();
  error_code ignored;
  if (!gone_) socket_.cancel(ignored);  // the watcher: the next read is the next request's
  co_return keep_alive_ && !gone_ && !winding_down_;
}

// What is wrong with a request that could not be read. A length that is too large already ends the reading of the header.
std::string Connection::complaint(unsigned status, const error_code& error) const {
  if (status == 431) return fmt::format("the request header is longer than {} bytes", context_->limits.header_bytes);
  if (status == 413) return fmt::format("the request body is larger than {} bytes", context_->limits.body_bytes);
  return fmt::format("not a request that HTTP knows: {}", error.message());
}

asio::awaitable<bool> Connection::refuse(unsigned status, std::string message) {
  HttpReply error = json_reply(status, context_->error_body(status, message));
  error.close = true;
  co_await reply(std::move(error));
  co_await linger();
  co_return false;
}

// Closing with unread bytes in the socket would reset the connection and could take the reply with it.
asio::awaitable<void> Connection::linger() {
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  deadline_in(kLinger);
  std::array<char, 16384> sink;
  while (true) {
    const auto [error, bytes] = co_await socket_.async_read_some(asio::buffer(sink), kTuple);
    if (error) co_return;
  }
}

asio::awaitable<bool> Connection::send(std::string bytes) {
  if (gone_) co_return false;
  deadline_in(context_->limits.write_timeout);
  const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(bytes), kTuple);
  no_deadline();
  if (error) set_gone();
  co_return !gone_;
}

std::string Connection::request_id_line() const { return request_id_ ? fmt::format("X-Request-Id: {}\r\n", *request_id_) : ""; }

asio::awaitable<void> Connection::reply(HttpReply reply) {
  answered_ = true;
  if (reply.close) keep_alive_ = false;
  std::string bytes = head(reply.status, http_1_0_, keep_alive_);
  bytes += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", reply.content_type, reply.body.size());
  for (const auto& [name, value] : reply.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  bytes += request_id_line() + "\r\n";
  if (request_.method != "HEAD") bytes += reply.body;
  co_await send(std::move(bytes));
}

asio::awaitable<bool> Connection::begin_events() {
  answered_ = true;
  if (http_1_0_) keep_alive_ = false;
  std::string bytes = head(200, http_1_0_, keep_alive_);
  bytes += "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";
  if (!http_1_0_) bytes += "Transfer-Encoding: chunked\r\n";
  bytes += request_id_line() + "\r\n";
  co_return co_await send(std::move(bytes));
}

asio::awaitable<bool> Connection::write_events(std::string bytes) {
  if (bytes.empty()) co_return !gone_;
  if (!http_1_0_) bytes = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
  co_return co_await send(std::move(bytes));
}

asio::awaitable<void> Connection::end_events() {
  if (!http_1_0_) co_await send("0\r\n\r\n");
}

void Connection::drop() {
  keep_alive_ = false;
  set_gone();
  close();
}

void Connection::on_gone(std::function<void()> callback) {
  if (gone_) {
    callback();
  } else {
    gone_callback_ = std::move(callback);
  }
}

void Connection::set_gone() {
  if (std::exchange(gone_, true)) return;
  if (const auto callback = std::exchange(gone_callback_, nullptr)) callback();
}

void Connection::watch() {
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this(), exchange = exchange_](error_code error) {
    if (exchange != self->exchange_ || !self->in_handler_ || self->gone_) return;
    if (error) return;
    char byte;
    const ssize_t n = recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0) {
      self->poll_gone();  // the next request is already there: the socket stays readable, a hang-up must be asked for
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      self->watch();
    } else {
      self->set_gone();
    }
  });
}

void Connection::poll_gone() {
  poll_timer_.expires_after(kPollGone);
  poll_timer_.async_wait([self = shared_from_this(), exchange = exchange_](error_code error) {
    if (error || exchange != self->exchange_ || !self->in_handler_ || self->gone_) return;
    pollfd entry{self->socket_.native_handle(), POLLRDHUP, 0};
    if (::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      self->set_gone();
    } else {
      self->poll_gone();
    }
  });
}

void Connection::deadline_in(std::chrono::milliseconds time) {
  deadline_ = std::chrono::steady_clock::now() + time;
  arm_deadline();
}

void Connection::no_deadline() {
  deadline_ = std::chrono::steady_clock::time_point::max();
  deadline_timer_.cancel();
}

void Connection::arm_deadline() {
  deadline_timer_.expires_at(deadline_);
  deadline_timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (error || !self || self->deadline_ > std::chrono::steady_clock::now()) return;
    self->set_gone();
    self->close();
  });
}

void Connection::wind_down() {
  winding_down_ = true;
  if (!in_handler_) close();
}

void Connection::close() {
  error_code ignored;
  no_deadline();
  poll_timer_.cancel();
  socket_.close(ignored);
}

}  // namespace teapot::server
