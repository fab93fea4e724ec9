#include "workbench/bench/client_connection.h"

#include <algorithm>

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "workbench/bench/reply_reader.h"

namespace teapot::workbench {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kMessageEnd{1'000};  // for the end of a message whose reply is complete

std::string request_head(const Endpoint& endpoint) {
  const bool bracketed = endpoint.host.find(':') != std::string::npos;
  std::string head = fmt::format("POST {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nUser-Agent: teapot/{}\r\nContent-Type: application/json\r\n",
                                 endpoint.target, bracketed ? "[" : "", endpoint.host, bracketed ? "]" : "", endpoint.port, TEAPOT_VERSION);
  if (!endpoint.api_key.empty()) head += fmt::format("Authorization: Bearer {}\r\n", endpoint.api_key);
  return head;
}

int64_t after(std::chrono::milliseconds time, int64_t since_ns) { return since_ns + std::chrono::nanoseconds(time).count(); }

}  // namespace

int64_t client_now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

ClientConnection::ClientConnection(asio::io_context& io, const Endpoint& endpoint, const tcp::resolver::results_type& addresses,
                                   const LoadOptions& options)
    : endpoint_(endpoint), addresses_(addresses), options_(options), socket_(io), head_(request_head(endpoint)) {}

asio::awaitable<void> ClientConnection::exchange(const LoadRequest& request, RequestRecord& record) {
  timed_out_ = cancelled_ = false;
  record.start_ns = client_now_ns();
  running_ = &record;
  const bool kept = still_open();
  bool connected = kept, answered = true;
  if (!connected) connected = co_await connect(record);
  if (connected) answered = co_await transfer(request, record, kept);
  if (!answered) {
    record.sent_again = true;
    connected = co_await connect(record);
    if (connected) co_await transfer(request, record, false);
  }
  running_ = nullptr;
  deadline_ns_ = 0;
}

// A server may close a connection that has been idle for long, or, as llama.cpp's does, after each stream: where that is seen in time,
// nothing was sent on it, and a new one is as good.
bool ClientConnection::still_open() {
  if (!socket_.is_open()) return false;
  char byte;
  const ssize_t n = recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  close();
  return false;
}

asio::awaitable<bool> ClientConnection::connect(RequestRecord& record) {
  deadline_ns_ = after(options_.connect_timeout, client_now_ns());
  const auto [error, address] = co_await asio::async_connect(socket_, addresses_, kTuple);
  if (!error && !timed_out_ && !cancelled_) {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    co_return true;
  }
  close();
  record.end_ns = client_now_ns();
  record.outcome = cancelled_ ? Outcome::kCancelled : Outcome::kConnect;
  if (cancelled_) {
    record.error = "the run was stopped";
  } else if (timed_out_) {
    record.error = fmt::format("no connection to {}:{} within {} ms", endpoint_.host, endpoint_.port, options_.connect_timeout.count());
  } else {
    record.error = fmt::format("no connection to {}:{}: {}", endpoint_.host, endpoint_.port, error.message());
  }
  co_return false;
}

asio::awaitable<bool> ClientConnection::transfer(const LoadRequest& request, RequestRecord& record, bool kept) {
  ReplyReader reader(request, options_.keep_text, record);
  const std::string head = head_ + fmt::format("Content-Length: {}\r\n\r\n", request.body.size());
  const std::array<asio::const_buffer, 2> message = {asio::buffer(head), asio::buffer(request.body)};
  record.start_ns = client_now_ns();
  deadline_ns_ = after(options_.token_timeout, record.start_ns);
  // A server may answer before it has read everything (an error): what it says is read even if the writing failed.
  const auto [write_error, written] = co_await asio::async_write(socket_, message, kTuple);
  const int64_t sent_ns = client_now_ns();
  bool silent = true;
  while (!reader.done()) {
    // A server that keeps the connection busy without a token has stalled all the same.
    const int64_t since_ns = std::max(sent_ns, reader.progress_ns());
    deadline_ns_ = after(reader.told() ? std::min(kMessageEnd, options_.token_timeout) : options_.token_timeout, since_ns);
    const auto [read_error, bytes] = co_await socket_.async_read_some(asio::buffer(buffer_), kTuple);
    const int64_t at_ns = client_now_ns();
    if (read_error && kept && silent && !timed_out_ && !cancelled_) {
      close();
      co_return false;
    }
    if (read_error) {
      end(reader, since_ns, write_error ? write_error.message() : read_error.message());
      break;
    }
    // Users whose sockets are readable now read, and note their times, before this one's bytes are looked at.
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);
    silent = false;
    reader.feed({buffer_.data(), bytes}, at_ns);
  }
  if (!reader.reusable()) close();
  co_return true;
}

void ClientConnection::end(ReplyReader& reader, int64_t waiting_since_ns, std::string_view why) const {
  const int64_t now_ns = client_now_ns();
  if (cancelled_) {
    reader.give_up(Outcome::kCancelled, "the run was stopped", now_ns);
  } else if (timed_out_) {
    reader.stall(waiting_since_ns, now_ns);
  } else {
    reader.end_of_stream(now_ns, why);
  }
}

void ClientConnection::check_deadline(int64_t now_ns) {
  if (deadline_ns_ == 0 || now_ns < deadline_ns_) return;
  timed_out_ = true;
  close();
}

void ClientConnection::cancel() {
  if (running_ == nullptr) return;
  cancelled_ = true;
  close();
}

void ClientConnection::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace teapot::workbench
